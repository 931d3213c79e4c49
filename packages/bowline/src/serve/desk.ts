/**
 * The folder of `bowline serve`: its agents, its prompt and its tools. A folder whose AGENTS.md
 * names agents is a workspace of Bowline. Any other folder is a project, served by one agent.
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { BowlineError, vendors, type AgentTool, type StreamFn } from "@bowline/core";
import { CommandError } from "../command-error.ts";
import { showPath } from "../escape.ts";
import { configFolder, ownFolders } from "../home.ts";
import type { CheckCall } from "../gateway/agents/check-call.ts";
import { DEFAULT_AGENT, type AgentEntry } from "../gateway/agents/agent-entry.ts";
import { Hooks } from "../hooks/hooks.ts";
import { hookLine } from "../hooks/news.ts";
import { newsLine } from "../mcp/news.ts";
import { Servers } from "../mcp/servers.ts";
import { chooseModel } from "../models/discover.ts";
import { withNestedInstructions } from "../project/nested-instructions.ts";
import type { ProjectTrust } from "../policy/load-permissions.ts";
import { loadProject, type Project } from "../project/project.ts";
import { chooseServer } from "../settings/server-choice.ts";
import { set } from "../defined.ts";
import { openSandbox, sandboxStatus, type Sandbox } from "../tools/index.ts";
import { readAgents } from "./agents-file.ts";
import { buildSystemPrompt } from "./prompt-builder.ts";
import { createWorkspaceFiles, isPresetModel, PRESET_MODEL } from "./workspace-files.ts";

export interface Desk {
  /** Creates the workspace's files if that is wanted, and returns their names. */
  prepare(isInit: boolean): Promise<string[]>;
  /**
   * Reads the folder. Call it once, after {@link prepare}. Rejects with `invalid_argument` for
   * broken settings.
   */
  open(): Promise<void>;
  /** Starts the MCP servers in the background, after {@link open}. {@link close} ends them. */
  connect(): void;
  agents(): Promise<readonly AgentEntry[]>;
  /** Whether the model is one that no one chose. */
  isPreset(model: string): Promise<boolean>;
  systemPrompt(): Promise<string>;
  tools(own: readonly AgentTool[], sessionKey: string): AgentTool[];
  /** Runs the hooks before a call. */
  checkCall: CheckCall;
  /** The user's trust in the settings of the folder. Known after {@link open}. */
  settingsTrust(): ProjectTrust | undefined;
  /** The sandbox that the settings ask for. Known after {@link open}. */
  sandbox(): Sandbox;
  /** Lines for a person. */
  notices(): readonly string[];
  /** Ends the MCP servers. */
  close(): Promise<void>;
}

export interface DeskOptions {
  readonly folder: string;
  /** Whether a person named the folder. The default one is always a workspace. */
  readonly isNamed: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The application's own providers. */
  readonly providers: ReadonlyMap<string, StreamFn> | undefined;
  /** Receives lines about what happens while the server runs. */
  readonly log: (line: string) => void;
}

/** The longest that a run waits for MCP servers before it begins, in milliseconds. */
const SERVER_WAIT_MS = 30_000;

const TOOL_NAMES = ["read", "write", "edit", "bash", "grep", "glob"];

export function createDesk({ folder, isNamed, env, providers, log }: DeskOptions): Desk {
  let project: Project | undefined;
  let servers: Servers | undefined;
  let hooks: Hooks | undefined;
  let model: string | undefined;
  let sandbox: Sandbox = { kind: "off" };
  const load = (): Promise<Project> => loadProject({ directory: folder, env, now: new Date() });
  const isKnown = ({ model: reference }: AgentEntry): boolean => {
    const [provider = ""] = reference.split("/");
    return providers?.has(provider) === true || vendors.some(({ id }) => id === provider);
  };
  /** A line such as `Model: src/user.ts` of an ordinary AGENTS.md names no agent. */
  const listed = async (): Promise<readonly AgentEntry[]> => {
    const agents = await readAgents(folder);
    return !isNamed || agents.some(isKnown) ? agents : [];
  };
  const assistant = (): AgentEntry => ({
    id: DEFAULT_AGENT,
    model: model ?? PRESET_MODEL,
    description: `Works in ${showPath(folder)}.`,
  });
  return {
    async prepare(isInit) {
      if (!isNamed || isInit) return createWorkspaceFiles(folder);
      const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
        const message = `The folder ${showPath(folder)} does not exist. Create it, or pass --init.`;
        throw new BowlineError("storage_failed", message, { cause: error });
      });
      if (!found.isDirectory())
        throw new BowlineError("storage_failed", `${showPath(folder)} is not a folder.`);
      return [];
    },
    async open() {
      project = await load().catch((error: unknown) => {
        if (!(error instanceof CommandError)) throw error;
        throw new BowlineError("invalid_argument", error.message, { cause: error });
      });
      if ((await listed()).length === 0) model = await modelFor(project, env);
      const { sandbox: choice = "off" } = project.settings.merged;
      hooks = createHooks(project, env, log);
      sandbox = await openSandbox({ choice, root: folder, readOnly: ownFolders(env) });
    },
    connect() {
      if (project !== undefined) servers ??= startServers(project, env, log);
    },
    async agents() {
      const agents = await listed();
      return agents.length > 0 ? agents : [assistant()];
    },
    async isPreset(reference) {
      if (await isPresetModel(folder, reference)) return true;
      return reference === PRESET_MODEL && model === undefined && (await listed()).length === 0;
    },
    async systemPrompt() {
      const now = await load();
      await waitForServers(servers, log);
      const more = [...now.tools(), ...(servers?.tools ?? [])];
      const tools = [...TOOL_NAMES, ...more.map(({ name }) => name)];
      if ((await listed()).length === 0) return now.systemPrompt({ tools });
      return now.systemPrompt({
        tools,
        system: await buildSystemPrompt(folder),
        hasInstructions: false,
      });
    },
    tools(own, sessionKey) {
      if (project === undefined) return [...own];
      const all = [
        ...withNestedInstructions(own, project),
        ...project.tools(),
        ...(servers?.tools ?? []),
      ];
      return hooks?.tools(all, sessionKey) ?? all;
    },
    checkCall: async ({ toolName: tool, toolCallId, args, sessionKey }, signal) =>
      (await hooks?.beforeCall({ tool, toolCallId, args }, signal, sessionKey)) ?? {},
    settingsTrust: () => project?.settingsTrust,
    sandbox: () => sandbox,
    notices: () => [
      ...(project?.notices ?? []),
      ...(sandbox.kind === "off" ? [] : [sandboxStatus(sandbox)]),
      ...unservedHooks(hooks),
    ],
    close: async () => servers?.close(),
  };
}

function createHooks(
  { hooks: sources, root, directory }: Project,
  env: DeskOptions["env"],
  log: DeskOptions["log"],
): Hooks {
  return new Hooks({
    ...{ sources, env, root, directory },
    sessionId: () => "",
    mode: () => "default",
    tell: (news) => log(hookLine(news)),
  });
}

/** A server has no start and no end of its own for a session, so it says which hooks never run. */
function unservedHooks(hooks: Hooks | undefined): string[] {
  const unserved = (["UserPromptSubmit", "Stop", "SessionStart"] as const).filter(
    (event) => hooks?.has(event) === true,
  );
  if (unserved.length === 0) return [];
  return [`Hooks for ${unserved.join(", ")} do not run under bowline serve.`];
}

function startServers(
  { servers, root, directory }: Project,
  env: DeskOptions["env"],
  log: DeskOptions["log"],
): Servers {
  return new Servers({
    ...{ settings: servers, env, root, directory },
    ownSettings: join(configFolder(env), "bowline.json"),
    tell: (news) => log(newsLine(news)),
  });
}

/** A run begins without the tools of servers that take long. */
async function waitForServers(
  servers: Servers | undefined,
  log: DeskOptions["log"],
): Promise<void> {
  const starting = servers?.starting ?? [];
  if (servers === undefined || starting.length === 0) return;
  log(`A run waits for MCP servers, at most ${SERVER_WAIT_MS / 1000} s: ${starting.join(", ")}`);
  const missing = await servers.settled(SERVER_WAIT_MS);
  if (missing.length > 0) log(`A run begins without the tools of ${missing.join(", ")}.`);
}

/**
 * Returns the model that commands would use: that of the settings, or the one that discovery finds.
 * Undefined if there is none.
 */
async function modelFor(
  { settings }: Project,
  env: DeskOptions["env"],
): Promise<string | undefined> {
  const { model, baseUrl } = chooseServer({}, settings, set(env.BOWLINE_MODEL));
  const isVendors = vendors.some(({ id }) => model?.startsWith(`${id}/`) === true);
  if (baseUrl === undefined && isVendors) return model;
  try {
    const chosen = await chooseModel({}, env);
    return "model" in chosen ? `${chosen.model.provider}/${chosen.model.id}` : undefined;
  } catch {
    return undefined; // the first message, and the notice for this agent, say why
  }
}
