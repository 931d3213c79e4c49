/**
 * The folder of `bowline serve`: its agents, its prompt and its tools. A folder whose AGENTS.md
 * names agents is a workspace of Bowline. Any other folder is a project, served by one agent.
 */
import { stat } from "node:fs/promises";
import { BowlineError, vendors, type AgentTool, type StreamFn } from "@bowline/core";
import { CommandError } from "../command-error.ts";
import { showPath } from "../escape.ts";
import { ownFolders } from "../home.ts";
import type { CheckCall } from "../gateway/agents/check-call.ts";
import { DEFAULT_AGENT, type AgentEntry } from "../gateway/agents/agent-entry.ts";
import { chooseModel } from "../models/discover.ts";
import { withNestedInstructions } from "../project/nested-instructions.ts";
import type { ProjectTrust } from "../policy/load-permissions.ts";
import { loadProject, type Project } from "../project/project.ts";
import { chooseServer } from "../settings/server-choice.ts";
import { set } from "../defined.ts";
import { openSandbox, sandboxStatus, type Sandbox } from "../tools/index.ts";
import { readAgents } from "./agents-file.ts";
import { createExtensions, type Extensions } from "./extensions.ts";
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

const TOOL_NAMES = ["read", "write", "edit", "bash", "grep", "glob"];

export function createDesk({ folder, isNamed, env, providers, log }: DeskOptions): Desk {
  let project: Project | undefined;
  let extensions: Extensions | undefined;
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
      await assertFolder(folder);
      return [];
    },
    async open() {
      project = await load().catch(refuseSettings);
      if ((await listed()).length === 0) model = await modelFor(project, env);
      const { sandbox: choice = "off" } = project.settings.merged;
      extensions = createExtensions(project, env, log);
      sandbox = await openSandbox({ choice, root: folder, readOnly: ownFolders(env) });
    },
    connect: () => extensions?.connect(),
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
      await extensions?.ready();
      const more = [...now.tools(), ...(extensions?.serverTools() ?? [])];
      const tools = [...TOOL_NAMES, ...more.map(({ name }) => name)];
      if ((await listed()).length === 0) return now.systemPrompt({ tools });
      return now.systemPrompt({
        tools,
        system: await buildSystemPrompt(folder),
        hasInstructions: false,
      });
    },
    tools(own, sessionKey) {
      if (project === undefined || extensions === undefined) return [...own];
      const all = [...withNestedInstructions(own, project), ...project.tools()];
      return extensions.tools(all, sessionKey);
    },
    checkCall: (call, signal) => extensions?.checkCall(call, signal) ?? {},
    settingsTrust: () => project?.settingsTrust,
    sandbox: () => sandbox,
    notices: () => [
      ...(project?.notices ?? []),
      ...(sandbox.kind === "off" ? [] : [sandboxStatus(sandbox)]),
      ...(extensions?.notices() ?? []),
    ],
    close: async () => extensions?.close(),
  };
}

function refuseSettings(error: unknown): never {
  if (!(error instanceof CommandError)) throw error;
  throw new BowlineError("invalid_argument", error.message, { cause: error });
}

async function assertFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    const message = `The folder ${showPath(folder)} does not exist. Create it, or pass --init.`;
    throw new BowlineError("storage_failed", message, { cause: error });
  });
  if (!found.isDirectory())
    throw new BowlineError("storage_failed", `${showPath(folder)} is not a folder.`);
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
