/**
 * Loads what a conversation stands on, after its first frame: the project and whether it is
 * trusted, settings, permissions, servers, the session and the model.
 */
import { isBowlineError } from "@bowline/core";
import { openSession, type Session, type Store } from "@bowline/core/session";
import { CommandError, explained } from "../command-error.ts";
import { set } from "../defined.ts";
import { ownFolders, sessionStore } from "../home.ts";
import { discoverModel } from "../models/discover.ts";
import { loadPermissions } from "../policy/load-permissions.ts";
import { loadProject, type Project } from "../project/project.ts";
import { chooseServer } from "../settings/server-choice.ts";
import { oneLine, shellWord } from "../terminal.ts";
import { openSandbox, sandboxStatus, type Sandbox } from "../tools/index.ts";
import { attachFiles, mentionedIn } from "./attach-files.ts";
import type { Environment, World } from "./chat.ts";
import { createChatHooks, submitted } from "./chat-hooks.ts";
import { runCommandLine } from "./commands/index.ts";
import type { Conversation } from "./conversation.ts";
import { drawPast } from "./draw-past.ts";
import { createOpener } from "./open-runtime.ts";
import { createServerWait, startServers } from "./server-wait.ts";
import type { StartOptions } from "./start-options.ts";
import { askTrust } from "./trust-question.ts";

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
  await chat.endings.add(() => servers.close());
  const hooks = createChatHooks(chat, project, env, options);
  const open = createOpener({
    chat,
    given,
    project,
    store,
    permissions,
    sandbox,
    outputFolder: outputs.path,
    servers,
    hooks,
    server,
    world: () => world,
  });
  const world: World = {
    directory,
    env,
    store,
    project,
    permissions,
    servers,
    ready: createServerWait(chat, servers),
    async submitted(message, draft, signal) {
      const files = { directory, permissions, notice: chat.notice.bind(chat) };
      return attachFiles(await submitted(hooks, message, signal), draft, files, signal);
    },
    checks: (draft) => hooks.has("UserPromptSubmit") || mentionedIn(draft).length > 0,
    options,
    connect: (wanted) => discoverModel(wanted, env),
    wanted: (session) => sessions.wanted(server, session),
    close: () => outputs.close(),
    open,
  };
  return world;
}
