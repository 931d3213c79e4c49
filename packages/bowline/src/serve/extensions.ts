/** What a folder adds to the tools of `bowline serve`: MCP servers and hooks. */
import { join } from "node:path";
import type { AgentTool } from "@bowline/core";
import type { CheckCall } from "../gateway/agents/check-call.ts";
import { configFolder } from "../home.ts";
import { Hooks } from "../hooks/hooks.ts";
import { hookLine } from "../hooks/news.ts";
import { newsLine } from "../mcp/news.ts";
import { Servers } from "../mcp/servers.ts";
import type { Project } from "../project/project.ts";

/** The longest that a run waits for MCP servers before it begins, in milliseconds. */
const WAIT_MS = 30_000;

export interface Extensions {
  /** Starts the servers in the background. */
  connect(): void;
  /** Waits for servers that are starting, for a bounded time, and logs it. */
  ready(): Promise<void>;
  /** The tools of the servers that are ready. */
  serverTools(): readonly AgentTool[];
  /** Returns tools with those of the servers, under the hooks. */
  tools(own: readonly AgentTool[], sessionKey: string): AgentTool[];
  readonly checkCall: CheckCall;
  /** Lines for a person. */
  notices(): readonly string[];
  /** Ends the servers. */
  close(): Promise<void>;
}

export function createExtensions(
  { servers: settings, hooks: sources, root, directory }: Project,
  env: Readonly<Record<string, string | undefined>>,
  log: (line: string) => void,
): Extensions {
  let servers: Servers | undefined;
  const hooks = new Hooks({
    sources,
    env,
    root,
    directory,
    sessionId: () => "",
    mode: () => "default",
    tell: (news) => log(hookLine(news)),
  });
  const serverTools = (): readonly AgentTool[] => servers?.tools ?? [];
  return {
    connect() {
      servers ??= new Servers({
        settings,
        env,
        root,
        directory,
        ownSettings: join(configFolder(env), "bowline.json"),
        tell: (news) => log(newsLine(news)),
      });
    },
    async ready() {
      const starting = servers?.starting ?? [];
      if (servers === undefined || starting.length === 0) return;
      log(`A run waits for MCP servers, at most ${WAIT_MS / 1000} s: ${starting.join(", ")}`);
      const missing = await servers.settled(WAIT_MS);
      if (missing.length > 0) log(`A run begins without the tools of ${missing.join(", ")}.`);
    },
    serverTools,
    tools: (own, sessionKey) => hooks.tools([...own, ...serverTools()], sessionKey),
    checkCall: ({ toolName: tool, toolCallId, args, sessionKey }, signal) =>
      hooks.beforeCall({ tool, toolCallId, args }, signal, sessionKey),
    notices: () => unserved(hooks),
    close: async () => servers?.close(),
  };
}

/** A server has no start and no end of a session, so it says which hooks never run. */
function unserved(hooks: Hooks): string[] {
  const events = (["UserPromptSubmit", "Stop", "SessionStart"] as const).filter((event) =>
    hooks.has(event),
  );
  if (events.length === 0) return [];
  return [`Hooks for ${events.join(", ")} do not run under bowline serve.`];
}
