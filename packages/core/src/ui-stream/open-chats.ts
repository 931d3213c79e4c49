/** Makes the agent of each chat once, attaches the chat's session, and checks each caller. */
import type { Agent } from "../agent/agent.ts";
import { requireApproval } from "../agent/approval.ts";
import { checkNames } from "../check-names.ts";
import { BowlineError } from "../errors.ts";
import { attachSession } from "../session/agent-session.ts";
import { openSession } from "../session/open-session.ts";
import type { Store } from "../session/store.ts";
import type { ChatAgent, OpenChat } from "./chat-runs.ts";

export interface OpenChatsOptions<TCaller> {
  /**
   * Makes the agent of a chat: a new one without messages. Called once per chat and process, and again
   * after it failed. Calls of tools that set `needsApproval` wait for the page's answer, unless the
   * agent has a `beforeToolCall` of its own, which then decides.
   */
  readonly agents: (chatId: string) => Agent | Promise<Agent>;
  /**
   * Returns whether the caller of a request may use the chat, whose id comes from the page. Called for
   * each request, before the chat is opened. Anything but true refuses the request with
   * `permission_denied`. A throw passes through.
   */
  readonly mayUse: (chatId: string, caller: TCaller) => boolean | Promise<boolean>;
  /**
   * Where chats are kept: each as the session with its id, which is created if it is missing.
   * Default: this process's memory.
   */
  readonly store?: Store | undefined;
}

/**
 * Returns a function that opens the chats of one request for `ChatRuns`, given the request's caller: what
 * `mayUse` needs to know, such as the request itself. Each chat is opened once, also for requests that
 * come at once, and held as long as the process lives. A chat that cannot be opened, or whose session can
 * no longer be written, is opened again by the next request. Rejects with the errors of `agents`, as
 * `openSession` and `attachSession` do, and with `invalid_state` for an agent that `agents` returned
 * before. Throws `invalid_argument` if `agents` or `mayUse` is not a function.
 */
export function openChats<TCaller>(
  options: OpenChatsOptions<TCaller>,
): (caller: TCaller) => OpenChat {
  checkNames(options, ["agents", "mayUse", "store"]);
  for (const name of ["agents", "mayUse"] as const)
    if (typeof options[name] !== "function")
      throw new BowlineError("invalid_argument", `Option "${name}" of openChats takes a function.`);
  const { agents, mayUse, store } = options;
  const chats = new Map<string, Promise<ChatAgent>>();
  const made = new WeakSet<Agent>();
  const make = async (chatId: string): Promise<ChatAgent> => {
    const agent = await agents(chatId);
    if (made.has(agent))
      throw new BowlineError(
        "invalid_state",
        'The function "agents" returned an agent that it had returned before. Return a new Agent from each call.',
      );
    made.add(agent);
    agent.beforeToolCall ??= requireApproval({ needed: () => false });
    return store ? attach(agent, store, chatId, () => chats.delete(chatId)) : { agent };
  };
  return (caller) => async (chatId) => {
    // A program without types may return something else, such as a record.
    const answer: unknown = await mayUse(chatId, caller);
    if (answer !== true)
      throw new BowlineError("permission_denied", "The caller may not use this chat.", {
        status: 403,
      });
    const known = chats.get(chatId);
    if (known) return known;
    const chat = make(chatId);
    chats.set(chatId, chat);
    chat.catch(() => chats.delete(chatId));
    return chat;
  };
}

/** Calls `forget` when the session cannot be written any more. */
async function attach(
  agent: Agent,
  store: Store,
  chatId: string,
  forget: () => void,
): Promise<ChatAgent> {
  const session = await openSession(store, chatId, { create: true });
  try {
    const attached = await attachSession(agent, session);
    agent.subscribe(async ({ type }) => {
      if (type !== "agent_end" || attached.failure === undefined) return;
      // Only a closed session can be opened again.
      await session.close().finally(forget);
    });
    return { agent, session: attached };
  } catch (error) {
    await session.close();
    throw error;
  }
}
