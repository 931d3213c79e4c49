/** Makes the agent of a conversation: its tools, its prompt, its gate and its session. */
import type { AgentTool, Budget } from "@bowline/core";
import { createSession, openSession, type Session, type Store } from "@bowline/core/session";
import type { Hooks } from "../hooks/hooks.ts";
import type { Servers } from "../mcp/servers.ts";
import { isAboutKey, keyAdvice } from "../models/key-advice.ts";
import type { Permissions } from "../policy/permissions.ts";
import type { Project } from "../project/project.ts";
import type { ServerChoice } from "../settings/server-choice.ts";
import type { Sandbox } from "../tools/index.ts";
import type { World } from "./chat.ts";
import type { Conversation } from "./conversation.ts";
import { createGate } from "./gate.ts";
import type { ChatOptions } from "./options.ts";
import { Runtime } from "./runtime.ts";
import type { StartOptions } from "./start-options.ts";
import { subAgents } from "./sub-agents.ts";

interface OpenerParts {
  readonly chat: Conversation;
  readonly given: StartOptions;
  readonly project: Project;
  readonly store: Store;
  readonly permissions: Permissions;
  readonly sandbox: Sandbox;
  readonly outputFolder: string;
  readonly servers: Servers;
  readonly hooks: Hooks;
  readonly server: ServerChoice;
  readonly world: () => World;
}

/** Returns the function that opens a session, or one that the first message creates. */
export function createOpener(parts: OpenerParts): World["open"] {
  const { chat, given, project, store, permissions, servers, hooks } = parts;
  const { sandbox, outputFolder, server } = parts;
  const { options, sessions } = given;
  const { merged } = project.settings;
  const { compactAt } = merged;
  const gate = hooks.approver(
    createGate({
      permissions: () => permissions,
      isPlan: () => chat.state.isPlan,
      only: () => chat.only,
      sessionKey: () => (chat.hasRuntime ? (chat.runtime.session?.id ?? "") : ""),
      yes: options.yes,
    }),
  );
  let isFirst = true;
  let currentTools = (): AgentTool[] => [];
  servers.onChanged(() => {
    if (chat.hasRuntime) chat.runtime.agent.state.tools = currentTools();
  });
  return async (connection, session) => {
    const begun = isFirst ? "startup" : "clear";
    isFirst = false;
    const context = await hooks.sessionStarted(session === undefined ? begun : "resume");
    currentTools = given.createTools(project, {
      startSubAgent: (start) => subAgents({ world: parts.world(), gate, chat })(start),
      hidden: (tool) => permissions.hidden({ tool }),
      sandbox,
      outputFolder,
      servers,
      hooks,
    });
    const tools = currentTools();
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
      ...(hooks.has("Stop") && { stopping: (...asked) => hooks.stopping(...asked) }),
      createSession: (model) => newSession(chat, store, options, sessions.metadata(model, server)),
      ...(compactAt !== undefined && { compactAt }),
      ...(session !== undefined && { session }),
    });
  };
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
