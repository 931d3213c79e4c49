/**
 * Loads what a conversation stands on, after its first frame: the project and whether it is
 * trusted, settings, permissions, the session and the model.
 */
import { isBowlineError, type Agent, type AgentTool, type Budget, type Model } from "@bowline/core";
import { createSession, openSession, type Session, type Store } from "@bowline/core/session";
import { CommandError, explained } from "../command-error.ts";
import { set } from "../defined.ts";
import type { Hooks } from "../hooks/hooks.ts";
import { ownFolders, sessionStore } from "../home.ts";
import { isAboutKey, keyAdvice } from "../models/key-advice.ts";
import { discoverModel, type Wanted } from "../models/discover.ts";
import type { Servers } from "../mcp/servers.ts";
import { loadPermissions } from "../policy/load-permissions.ts";
import type { SubAgentStart } from "../project/agent-tool.ts";
import { loadProject, type Project } from "../project/project.ts";
import { chooseServer, type ServerChoice } from "../settings/server-choice.ts";
import { oneLine, shellWord } from "../terminal.ts";
import { openSandbox, sandboxStatus, type Sandbox } from "../tools/index.ts";
import type { Environment, World } from "./chat.ts";
import { runCommandLine } from "./commands/index.ts";
import type { Conversation } from "./conversation.ts";
import { drawPast } from "./draw-past.ts";
import { createChatHooks, submitted } from "./chat-hooks.ts";
import { createGate } from "./gate.ts";
import type { ChatOptions } from "./options.ts";
import { Runtime } from "./runtime.ts";
import { createServerWait, startServers } from "./server-wait.ts";
import { subAgents } from "./sub-agents.ts";
import { askTrust } from "./trust-question.ts";

/** What the command knows of stored sessions. */
interface SessionPorts {
  /** The id of the session to go on with. Undefined: a new one. */
  find(store: Store): Promise<string | undefined>;
  /** The server and model of a stored session, unless the options name others. */
  wanted(server: ServerChoice, session: Session | undefined): Promise<Wanted>;
  metadata(model: Model, server: ServerChoice): Readonly<Record<string, unknown>>;
}

/** What the tools of a conversation need beside its project. */
interface ToolPorts {
  readonly startSubAgent: (start: SubAgentStart) => Promise<Agent>;
  /** Returns the path patterns that a tool's searches omit. */
  readonly hidden: (tool: string) => readonly string[];
  readonly sandbox: Sandbox;
  readonly outputFolder: string;
  readonly servers: Servers;
  readonly hooks: Hooks;
}

/** A folder that `close` removes, if nothing names its files by then. */
interface OutputFolder {
  readonly path: string;
  readonly close: () => Promise<void>;
}

export interface StartOptions {
  readonly options: ChatOptions;
  readonly directory: string;
  readonly env: Environment;
  readonly sessions: SessionPorts;
  /**
   * Creates the tools that the options and the settings choose. The returned function returns them
   * as they are now.
   */
  readonly createTools: (project: Project, ports: ToolPorts) => () => AgentTool[];
  /** Opens the folder for the full text of long output. */
  readonly openOutputs: (hasSession: boolean) => Promise<OutputFolder>;
  readonly now: () => number;
}

/** Rejects with an error for a person if the conversation cannot begin. */
export async function start(chat: Conversation, given: StartOptions): Promise<void> {
  const { options, env, sessions } = given;
  const project = await trustedProject(chat, given);
  for (const notice of project.notices) chat.notice(notice, "warning");
  const store = sessionStore(env);
  const world = await worldOf(chat, given, project, store);
  const id = await explained(() => sessions.find(store));
  const session = id === undefined ? undefined : await explained(() => openStored(store, id));
  try {
    const connection = await world.connect(await world.wanted(session));
    const { model } = connection;
    const name = `${model.provider}/${model.id}`;
    chat.dispatch({ type: "model", model: name, why: connection.why });
    const runtime = await world.open(connection, session);
    if (session !== undefined) await drawPast(chat, session, runtime);
    chat.begin(world, runtime);
  } catch (error) {
    await session?.close();
    throw error;
  }
  if (session === undefined && options.task === "" && options.keep !== "choose") chat.greet();
  if (options.plan) chat.setPlan(true);
  if (options.task !== "") chat.send(options.task);
  else if (options.keep === "choose") await runCommandLine("/resume", chat);
}

/** A session that another conversation has open cannot be shared, but copied. */
async function openStored(store: Store, id: string): Promise<Session> {
  try {
    return await openSession(store, id);
  } catch (error) {
    if (!isBowlineError(error) || error.code !== "session_locked") throw error;
    const holder = /in use by (.+?)\. /.exec(error.message)?.[1] ?? "another process";
    throw new CommandError(
      `This conversation is open in ${oneLine(holder, 100)}. Go on there, or begin a new one with bowline, ` +
        `or work on a copy: bowline sessions fork ${shellWord(id)}`,
    );
  }
}

async function trustedProject(
  chat: Conversation,
  { directory, env, now }: StartOptions,
): Promise<Project> {
  const load = (): Promise<Project> => loadProject({ directory, env, now: new Date(now()) });
  const project = await load();
  if (project.trust === "trusted" || project.wouldTakeEffect.length === 0) return project;
  return (await askTrust(chat, project, env, now)) ? load() : project;
}

function sandboxOf({ directory, settings }: Project, env: Environment): Promise<Sandbox> {
  const choice = settings.merged.sandbox ?? "off";
  return openSandbox({ choice, root: directory, readOnly: ownFolders(env) });
}

async function worldOf(
  chat: Conversation,
  given: StartOptions,
  project: Project,
  store: Store,
): Promise<World> {
  const { options, directory, env, sessions } = given;
  const { merged } = project.settings;
  const server = chooseServer(options, project.settings, set(env.BOWLINE_MODEL));
  for (const notice of server.notices) chat.notice(notice, "warning");
  const { settingsTrust: trust } = project;
  const permissions = await loadPermissions({ directory, env, trust, searchesHide: true });
  for (const notice of permissions.notices) chat.notice(notice, "warning");
  const sandbox = await sandboxOf(project, env);
  const status = sandbox.kind === "off" ? "off" : sandboxStatus(sandbox).replace("sandbox: ", "");
  chat.dispatch({ type: "sandbox", sandbox: status });
  const outputs = await given.openOutputs(options.keep !== "none");
  const servers = startServers(chat, project, env);
  await chat.endWith(() => servers.close());
  let currentTools = (): AgentTool[] => [];
  servers.onChanged(() => {
    if (chat.hasRuntime) chat.runtime.agent.state.tools = currentTools();
  });
  const hooks = createChatHooks(chat, project, env, options);
  const ownGate = createGate({
    permissions: () => permissions,
    isPlan: () => chat.state.isPlan,
    only: () => chat.only,
    sessionKey: () => (chat.hasRuntime ? (chat.runtime.session?.id ?? "") : ""),
    yes: options.yes,
  });
  const gate = hooks.approver(ownGate);
  let isFirst = true;
  const world: World = {
    directory,
    env,
    store,
    project,
    permissions,
    servers,
    ready: createServerWait(chat, servers),
    submitted: (message, signal) => submitted(hooks, message, signal),
    checksMessages: hooks.has("UserPromptSubmit"),
    options,
    connect: (wanted) => discoverModel(wanted, env),
    wanted: (session) => sessions.wanted(server, session),
    close: () => outputs.close(),
    open: async (connection, session) => {
      const begun = isFirst ? "startup" : "clear";
      isFirst = false;
      const context = await hooks.sessionStarted(session === undefined ? begun : "resume");
      currentTools = given.createTools(project, {
        startSubAgent: subAgents({ world, gate, chat }),
        hidden: (tool) => permissions.hidden({ tool }),
        sandbox,
        outputFolder: outputs.path,
        servers,
        hooks,
      });
      const tools = currentTools();
      const { compactAt } = merged;
      const appended = [merged.appendSystem ?? "", context].filter((text) => text !== "");
      return Runtime.open({
        connection,
        tools,
        thinking: options.thinking ?? merged.thinking ?? "off",
        systemPrompt: project.systemPrompt({
          tools: tools.map(({ name }) => name),
          ...(appended.length > 0 && { appendSystem: appended.join("\n\n") }),
        }),
        budget: budgetOf(options),
        retryMs: options.retryMs,
        beforeToolCall: gate,
        onEvent: (event) => {
          chat.event(event);
          if (event.type === "agent_end" && event.error !== undefined && isAboutKey(event.error))
            chat.notice(keyAdvice(chat.runtime.connection.keyFrom));
        },
        reopen: (id) => openSession(store, id),
        onSaving: (failure) => noteSaving(chat, failure),
        ...(hooks.has("Stop") && {
          stopping: (isActive, signal) => hooks.stopping(isActive, signal),
        }),
        createSession: (model) =>
          newSession(chat, store, options, sessions.metadata(model, server)),
        ...(compactAt !== undefined && { compactAt }),
        ...(session !== undefined && { session }),
      });
    },
  };
  return world;
}

function budgetOf({ maxTurns, maxTokens, maxCost }: ChatOptions): Budget {
  return {
    maxTurns,
    ...(maxTokens !== undefined && { maxTokens }),
    ...(maxCost !== undefined && { maxCost }),
  };
}

function noteSaving(chat: Conversation, failure: Error | undefined): void {
  if (failure === undefined)
    return chat.notice("The conversation is saved again. What was not saved is not sent either.");
  chat.notice(`FROM HERE ON NOTHING IS SAVED. ${failure.message}`, "error");
}

/** A conversation goes on without a session if none can be created, and says so. */
async function newSession(
  chat: Conversation,
  store: Store,
  { keep }: ChatOptions,
  metadata: Readonly<Record<string, unknown>>,
): Promise<Session | undefined> {
  if (keep === "none") return undefined;
  const id = typeof keep === "object" ? { id: keep.id } : {};
  try {
    return await createSession(store, { ...id, metadata });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    chat.notice(`THIS CONVERSATION IS NOT SAVED. ${why}`, "error");
    return undefined;
  }
}
