/**
 * `bowline serve`: the gateway with its workspace, token and models, configured by options and
 * environment.
 */
import { join, resolve } from "node:path";
import { BowlineError, isBowlineError, type StreamFn } from "@bowline/core";
import { createJsonlStore, makeFolder } from "@bowline/core/session/node";
import { set } from "../defined.ts";
import { dataFolder, sessionsFolder } from "../home.ts";
import { createPage } from "../page/node/page.ts";
import { createTools } from "../tools/index.ts";
import type { Tokens } from "../gateway/access/tokens.ts";
import { createBackends, type Backends } from "../models/backends.ts";
import { withEnvFile } from "./env-file.ts";
import { holdFolder } from "./hold-folder.ts";
import { tokenOf, tokensOf, type OwnToken } from "./own-token.ts";
import type { GatewayLimits } from "../gateway/protocol/limits.ts";
import { isLoopbackName } from "../gateway/access/origin.ts";
import type { ListedAgents } from "../gateway/agents/agent-options.ts";
import { createPendingFolder } from "../gateway/runs/pending.ts";
import type { PolicyRule } from "../policy/policy.ts";
import { openGatewayRules } from "./gateway-rules.ts";
import { secretsOf } from "../secrets.ts";
import {
  DEFAULT_PORT,
  startGateway,
  type Gateway,
  type GatewayOptions,
} from "../gateway/server/server.ts";
import { createDesk, type Desk } from "./desk.ts";

export interface ServeOptions extends Pick<
  GatewayOptions,
  "page" | "version" | "exposed" | "trustProxy"
> {
  /** Default `BOWLINE_HOST`, else 127.0.0.1. */
  readonly host?: string;
  /** Default `BOWLINE_PORT`, else 18789. */
  readonly port?: number;
  /**
   * The folder of AGENTS.md, in which tools work. Default `BOWLINE_WORKSPACE`, else `workspace` in
   * the data folder.
   */
  readonly workspace?: string;
  /**
   * Whether to create AGENTS.md, SOUL.md and TOOLS.md in a `workspace` that is named. Default false:
   * only the default workspace gets them.
   */
  readonly init?: boolean;
  /**
   * `provider/model` to use when the agent's model has no key. Default `BOWLINE_FALLBACK`, else
   * none: a message to an agent with a chosen model is then refused.
   */
  readonly fallback?: string;
  /** Rules for calls, in addition to those that people added. */
  readonly rules?: readonly PolicyRule[];
  /**
   * Stream functions of the application, by the provider in a model reference (the part before the
   * slash). They take precedence over the vendors.
   */
  readonly providers?: ReadonlyMap<string, StreamFn>;
  /** Default: `defaultLimits`. */
  readonly limits?: Partial<GatewayLimits>;
  /** Default `.env` in the current folder. */
  readonly envFile?: string;
  /** Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Receives lines for a person. Default: none are written. */
  readonly print?: (line: string) => void;
  /** Receives lines about MCP servers and hooks, while it runs. Default: `print`. */
  readonly log?: (line: string) => void;
}

export interface Served extends OwnToken {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Whether other machines can reach the server. */
  readonly isExposed: boolean;
  readonly workspace: string;
  /** Workspace files that were created. */
  readonly made: readonly string[];
  /**
   * Notices about agents, for example that another model answers. For a file such as `.env`,
   * `agent` is the file's name.
   */
  readonly notices: readonly { readonly agent: string; readonly message: string }[];
  close(reason?: string): Promise<void>;
}

/**
 * Starts the server. Rejects with `invalid_argument` for invalid options, and `storage_failed` for
 * an unusable folder or a broken policy file. Rejects with `session_locked` if another server uses
 * the data folder, and with the system's error if the port is in use.
 */
export async function serve(options: ServeOptions = {}): Promise<Served> {
  const { print = () => {} } = options;
  const settings = await settingsOf(options);
  const { env, home, workspace, host, backends, desk } = settings;
  const made = await inFolder(workspace, () => desk.prepare(options.init === true));
  await desk.open();
  const { token, tokenFrom } = await inFolder(home, async () => {
    await makeFolder(home);
    return tokenOf(env, join(home, "token"));
  });
  const tokens = tokensOf(token, set(env.BOWLINE_READ_TOKEN));
  const letGo = await inFolder(home, () => holdFolder(join(home, "running")));
  const leave = async (): Promise<void> => {
    await desk.close();
    await backends.close();
    await letGo();
  };
  const { gateway, ruleNotices } = await start(options, settings, tokens).catch(
    async (error: unknown) => {
      await leave();
      throw error;
    },
  );
  const { notices, isPractice } = await noticesOf(settings, ruleNotices);
  const served: Served = {
    url: gateway.url,
    host,
    port: gateway.port,
    isExposed: !isLoopbackName(host),
    token,
    tokenFrom,
    workspace,
    made,
    notices,
    async close(reason) {
      await gateway.close(reason);
      await leave();
    },
  };
  greet(served, isPractice, print);
  return served;
}

interface ServeSettings {
  readonly env: Environment;
  /** The folder of the gateway's data, except sessions. */
  readonly home: string;
  readonly workspace: string;
  readonly host: string;
  readonly port: number;
  readonly backends: Backends;
  readonly backendFor: ListedAgents["backendFor"];
  readonly desk: Desk;
  readonly fileNotices: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Combines the options with the environment and `.env`. */
async function settingsOf(options: ServeOptions): Promise<ServeSettings> {
  const { envFile = ".env" } = options;
  const { env, notices } = await withEnvFile(options.env ?? process.env, resolve(envFile));
  const fallback = options.fallback ?? set(env.BOWLINE_FALLBACK);
  const backends = createBackends({ env, ...(fallback !== undefined && { fallback }) });
  const named = options.workspace ?? set(env.BOWLINE_WORKSPACE);
  const workspace = resolve(named ?? join(dataFolder(env), "workspace"));
  const isNamed = named !== undefined;
  const { providers, print = () => {}, log = print } = options;
  const desk = createDesk({ folder: workspace, isNamed, env, providers, log });
  return {
    env,
    home: join(dataFolder(env), "gateway"),
    workspace,
    host: options.host ?? set(env.BOWLINE_HOST) ?? "127.0.0.1",
    port: options.port ?? portOf(env.BOWLINE_PORT),
    backends,
    backendFor: async ({ model }) => backends.for({ model, isPreset: await desk.isPreset(model) }),
    desk,
    fileNotices: notices,
  };
}

async function start(
  {
    rules,
    providers,
    limits,
    page = createPage(),
    version,
    exposed = false,
    trustProxy,
  }: ServeOptions,
  { env, home, workspace, host, port, backendFor, desk }: ServeSettings,
  tokens: Tokens,
): Promise<{ readonly gateway: Gateway; readonly ruleNotices: readonly string[] }> {
  desk.connect();
  const { rules: policy, notices: ruleNotices } = await openGatewayRules({
    home,
    workspace,
    env,
    trust: desk.settingsTrust(),
    ...(rules && { configured: rules }),
  });
  const gateway = await startGateway({
    tokens,
    store: createJsonlStore(sessionsFolder(env)),
    pending: createPendingFolder(join(home, "pending")),
    rules: policy,
    agents: () => desk.agents(),
    backendFor,
    systemPrompt: () => desk.systemPrompt(),
    tools: (sessionKey) =>
      desk.tools(
        createTools({
          root: workspace,
          env,
          sandbox: desk.sandbox(),
          hidden: (tool) => policy.hidden({ tool, sessionKey }),
        }),
        sessionKey,
      ),
    checkCall: (call, signal) => desk.checkCall(call, signal),
    workspacePath: workspace,
    secrets: secretsOf(env, [tokens.full, ...(tokens.read === undefined ? [] : [tokens.read])]),
    host,
    exposed,
    ...(trustProxy && { trustProxy }),
    port,
    ...(providers && { providers }),
    ...(limits && { limits }),
    page,
    ...(version !== undefined && { version }),
  });
  return { gateway, ruleNotices };
}

/** Returns notices about files and agents, and whether the practice model answers. */
async function noticesOf(
  { desk, backendFor, fileNotices }: ServeSettings,
  ruleNotices: readonly string[],
): Promise<{ notices: Served["notices"]; isPractice: boolean }> {
  const notices = [
    ...fileNotices.map((message) => ({ agent: ".env", message })),
    ...ruleNotices.map((message) => ({ agent: "rules", message })),
  ];
  let isPractice = false;
  notices.push(...desk.notices().map((message) => ({ agent: "workspace", message })));
  const agents = await desk.agents();
  for (const agent of agents) {
    const found = await Promise.resolve(backendFor(agent)).catch((error: Error) => ({
      notice: error,
      isPractice: false,
    }));
    isPractice ||= found.isPractice;
    if (found.notice !== undefined)
      notices.push({ agent: agent.id, message: found.notice.message });
  }
  return { notices, isPractice };
}

function greet(
  { url, isExposed, tokenFrom, token, workspace, made, notices }: Served,
  isPractice: boolean,
  print: (line: string) => void,
): void {
  print(`Listening on ${url}${isExposed ? " (other machines can reach it)" : ""}`);
  print(
    "variable" in tokenFrom
      ? `Token: ${tokenFrom.variable}. Open ${url}/`
      : `Open ${url}/#token=${token}`,
  );
  print(`Workspace: ${workspace}${made.length > 0 ? ` (made ${made.join(", ")})` : ""}`);
  for (const { agent, message } of notices) print(`${agent}: ${message}`);
  if (isPractice)
    print(
      "For a real model set its key, for example in .env, and restart. Or name another model in AGENTS.md.",
    );
}

function portOf(value: string | undefined): number {
  const text = set(value);
  if (text === undefined) return DEFAULT_PORT;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new BowlineError(
    "invalid_argument",
    `BOWLINE_PORT takes a number up to 65535, not ${JSON.stringify(text)}.`,
  );
}

/** Converts errors of the file system to `storage_failed`. */
async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (isBowlineError(error) || code === undefined) throw error;
    throw new BowlineError("storage_failed", `${folder} cannot be used (${code}).`, {
      cause: error,
    });
  }
}
