/**
 * The part of `bowline serve` that does not depend on what executes the runs: the workspace, its
 * agents and their models, configured by options and environment.
 */
import { join, resolve } from "node:path";
import { BowlineError, isBowlineError, type StreamFn } from "@bowline/core";
import { set } from "../defined.ts";
import { dataFolder } from "../home.ts";
import { createBackends, type Backends } from "../models/backends.ts";
import type { PolicyRule } from "../policy/policy.ts";
import { createTools } from "../tools/index.ts";
import { DEFAULT_PORT } from "../gateway/server/server.ts";
import type { ListedAgents } from "../gateway/agents/agent-options.ts";
import { createDesk, type Desk } from "./desk.ts";
import { withEnvFile } from "./env-file.ts";
import { openGatewayRules, type GatewayRules } from "./gateway-rules.ts";

export interface WorkspaceOptions {
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
  /** Default `.env` in the current folder. */
  readonly envFile?: string;
  /** Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface ServeSettings {
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
export async function settingsOf(options: WorkspaceOptions): Promise<ServeSettings> {
  const { envFile = ".env" } = options;
  const { env, notices } = await withEnvFile(options.env ?? process.env, resolve(envFile));
  const fallback = options.fallback ?? set(env.BOWLINE_FALLBACK);
  const backends = createBackends({ env, ...(fallback !== undefined && { fallback }) });
  const named = options.workspace ?? set(env.BOWLINE_WORKSPACE);
  const workspace = resolve(named ?? join(dataFolder(env), "workspace"));
  const isNamed = named !== undefined;
  const desk = createDesk({ folder: workspace, isNamed, env, providers: options.providers });
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

/** Reads the workspace. Returns the files that were created. */
export async function openDesk(
  { init = false }: Pick<WorkspaceOptions, "init">,
  { workspace, desk }: ServeSettings,
): Promise<string[]> {
  const made = await inFolder(workspace, () => desk.prepare(init));
  await desk.open();
  return made;
}

/** Opens the rules that decide which calls of the workspace's agents need a person. */
export function rulesOf(
  { rules }: Pick<WorkspaceOptions, "rules">,
  { home, workspace, env, desk }: ServeSettings,
): Promise<GatewayRules> {
  return openGatewayRules({
    home,
    workspace,
    env,
    trust: desk.settingsTrust(),
    ...(rules && { configured: rules }),
  });
}

/** The agents of the workspace, as options of a gateway. */
export function agentsOf(
  { providers }: Pick<WorkspaceOptions, "providers">,
  { desk, backendFor, workspace, env }: ServeSettings,
  rules: GatewayRules["rules"],
): ListedAgents & { readonly rules: GatewayRules["rules"]; readonly workspacePath: string } {
  return {
    rules,
    agents: () => desk.agents(),
    backendFor,
    systemPrompt: () => desk.systemPrompt(),
    tools: (sessionKey) =>
      desk.tools(
        createTools({
          root: workspace,
          env,
          sandbox: desk.sandbox(),
          hidden: (tool) => rules.hidden({ tool, sessionKey }),
        }),
      ),
    workspacePath: workspace,
    ...(providers && { providers }),
  };
}

/** A line for a person about an agent, or about a file such as `.env`. */
export interface Notice {
  readonly agent: string;
  readonly message: string;
}

/** Returns notices about files and agents, and whether the practice model answers. */
export async function noticesOf(
  { desk, backendFor, fileNotices }: ServeSettings,
  ruleNotices: readonly string[],
): Promise<{ notices: readonly Notice[]; isPractice: boolean }> {
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
export async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
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
