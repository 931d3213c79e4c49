/** The MCP servers of a conversation: their lines, and the wait of a run for them. */
import { join } from "node:path";
import { configFolder } from "../home.ts";
import { newsLine, type ServerNews } from "../mcp/news.ts";
import { Servers } from "../mcp/servers.ts";
import type { Project } from "../project/project.ts";
import { oneLine } from "../terminal.ts";
import type { NoticeLevel } from "./block.ts";
import type { Chat, Environment } from "./chat.ts";

/** The longest that a run waits for servers before it begins, in milliseconds. */
const WAIT_MS = 10_000;

const levels: Readonly<Record<ServerNews["status"], NoticeLevel>> = {
  ready: "info",
  warning: "warning",
  restarting: "warning",
  failed: "error",
};

/** Starts the servers in the background. Each has a line when it is connected, fails or restarts. */
export function startServers(
  chat: Pick<Chat, "notice">,
  { servers, root, directory }: Project,
  env: Environment,
): Servers {
  return new Servers({
    settings: servers,
    env,
    root,
    directory,
    ownSettings: join(configFolder(env), "bowline.json"),
    tell: (news) => chat.notice(newsLine(news), levels[news.status]),
  });
}

/**
 * Returns a function that waits for servers that are starting, at most 10 s, or until the signal
 * fires. It waits once: a server that takes longer joins when it is ready.
 */
export function createServerWait(
  chat: Pick<Chat, "dispatch" | "notice" | "screen">,
  servers: Servers,
): (signal: AbortSignal) => Promise<void> {
  let hasWaited = false;
  return async (signal) => {
    const { starting } = servers;
    if (hasWaited || starting.length === 0) return;
    const names = oneLine(starting.join(", "), 200);
    const text = `Waiting for MCP servers, at most ${WAIT_MS / 1000} s: ${names}. Esc takes the message back.`;
    if (chat.screen.isPlain) chat.notice(text);
    else chat.dispatch({ type: "hint", text });
    const missing = await servers.settled(WAIT_MS, signal);
    if (!chat.screen.isPlain) chat.dispatch({ type: "hint", text: undefined });
    if (signal.aborted) return;
    hasWaited = true;
    if (missing.length > 0)
      chat.notice(
        `The run begins without the tools of ${oneLine(missing.join(", "), 200)}. They join when the servers are ready.`,
        "warning",
      );
  };
}
