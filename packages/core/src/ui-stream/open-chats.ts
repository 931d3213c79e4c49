/** Makes the agent of each chat once, attaches the chat's session, and checks each caller. */
import type { Agent } from "../agent/agent.ts";
import { requireApproval } from "../agent/approval.ts";
import { checkNames } from "../check-names.ts";
import { systemClock, type Clock } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import { attachSession } from "../session/agent-session.ts";
import { openSession } from "../session/open-session.ts";
import type { Store } from "../session/store.ts";
import type { OpenChat } from "./chat-runs.ts";
import { HeldChats, type HeldChatsOptions, type OpenedChat } from "./held-chats.ts";

export interface OpenChatsOptions<TCaller> {
  /**
   * Makes the agent of a chat: a new one without messages. Called when the chat is opened. Calls of
   * tools that set `needsApproval` wait for the page's answer, unless the agent has a `beforeToolCall`
   * of its own, which then decides.
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
   * Default: this process's memory, which then grows with every chat.
   */
  readonly store?: Store | undefined;
  /**
   * How long a chat of a store stays open without a request and a run, in milliseconds. Default
   * 600,000. It may stay a minute longer. Infinity: as long as the process lives.
   */
  readonly idleMs?: number | undefined;
  /**
   * Number of chats of a store that stay open. Default 1,000. Above it, chats without a run are let go
   * 10 s after their last request, the least recently used first. Chats with a run stay, so it may be
   * exceeded.
   */
  readonly maxOpen?: number | undefined;
  /** Default: the system's clock, with a timer that does not keep a process alive. */
  readonly clock?: Clock | undefined;
}

/**
 * Returns a function that opens the chats of one request for `ChatRuns`, given the request's caller: what
 * `mayUse` needs to know, such as the request itself. Each chat is opened once, also for requests that
 * come at once.
 *
 * A chat of a `store` that is idle is let go: its session is closed, and the next request opens it again,
 * with a new agent. A chat whose run goes on or waits for an approval, or that has queued messages, is
 * never let go. A run that is begun later with an agent that was let go ends with an error.
 * Without a `store`, chats are held as long as the process lives, because their messages are nowhere else.
 *
 * A chat that cannot be opened, or whose session can no longer be written, is opened again by the next
 * request. Rejects with the errors of `agents`, as `openSession` and `attachSession` do, and with
 * `invalid_state` for an agent that `agents` returned before. Throws `invalid_argument` if `agents` or
 * `mayUse` is not a function, and for an invalid `idleMs` or `maxOpen`, or one without a `store`.
 */
export function openChats<TCaller>(
  options: OpenChatsOptions<TCaller>,
): (caller: TCaller) => OpenChat {
  checkNames(options, ["agents", "mayUse", "store", "idleMs", "maxOpen", "clock"]);
  for (const name of ["agents", "mayUse"] as const)
    if (typeof options[name] !== "function")
      throw new BowlineError("invalid_argument", `Option "${name}" of openChats takes a function.`);
  const { agents, mayUse, store } = options;
  const chats = new HeldChats(boundsOf(options));
  const made = new WeakSet<Agent>();
  const make = async (chatId: string, forget: () => void): Promise<OpenedChat> => {
    const agent = await agents(chatId);
    if (made.has(agent))
      throw new BowlineError(
        "invalid_state",
        'The function "agents" returned an agent that it had returned before. Return a new Agent from each call.',
      );
    made.add(agent);
    agent.beforeToolCall ??= requireApproval({ needed: () => false });
    return store ? attach(agent, store, chatId, forget) : { agent, chat: { agent } };
  };
  return (caller) => async (chatId) => {
    // A program without types may return something else, such as a record.
    const answer: unknown = await mayUse(chatId, caller);
    if (answer !== true)
      throw new BowlineError("permission_denied", "The caller may not use this chat.", {
        status: 403,
      });
    return chats.open(chatId, (forget) => make(chatId, forget));
  };
}

function boundsOf({
  store,
  idleMs,
  maxOpen,
  clock = quietClock,
}: Omit<OpenChatsOptions<never>, "agents" | "mayUse">): HeldChatsOptions {
  const refused = (why: string): BowlineError => new BowlineError("invalid_argument", why);
  const [needless] = Object.entries({ idleMs, maxOpen }).filter(([, given]) => given !== undefined);
  if (store === undefined && needless !== undefined)
    throw refused(
      `Option "${needless[0]}" of openChats needs a store: a chat that is only in memory is not let go.`,
    );
  if (idleMs !== undefined && !(idleMs > 0))
    throw refused(`idleMs must be a positive number of milliseconds, not ${String(idleMs)}.`);
  if (maxOpen !== undefined && !(Number.isInteger(maxOpen) && maxOpen > 0))
    throw refused(`maxOpen must be a positive integer, not ${String(maxOpen)}.`);
  return { idleMs: idleMs ?? 600_000, maxOpen: maxOpen ?? 1_000, clock };
}

/** A process ends although its chats are open: their sessions have everything. */
const quietClock: Clock = {
  ...systemClock,
  setTimer(ms, fire) {
    const timer = setTimeout(fire, ms);
    // Node's timers are objects.
    (timer as { readonly unref?: () => void }).unref?.();
    return () => clearTimeout(timer);
  },
};

/** Calls `forget` when the session cannot be written any more. */
async function attach(
  agent: Agent,
  store: Store,
  chatId: string,
  forget: () => void,
): Promise<OpenedChat> {
  const session = await openSession(store, chatId, { create: true });
  try {
    const attached = await attachSession(agent, session);
    agent.subscribe(async ({ type }) => {
      if (type !== "agent_end" || attached.failure === undefined) return;
      // Only a closed session can be opened again.
      await session.close().finally(forget);
    });
    return { agent, session, chat: { agent, session: attached } };
  } catch (error) {
    await session.close();
    throw error;
  }
}
