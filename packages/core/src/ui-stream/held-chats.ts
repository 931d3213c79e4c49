/** The open chats of a process. Lets go those that are idle, because their session has all of them. */
import type { Agent } from "../agent/agent.ts";
import { monotonicNow, type Clock } from "../clock.ts";
import type { Session } from "../session/session.ts";
import type { ChatAgent } from "./chat-runs.ts";

/** How long a chat stays after a request, in milliseconds: the request may use its agent later. */
const GRACE_MS = 10_000;
/** How often to look for idle chats, in milliseconds. */
const TICK_MS = 60_000;

export interface HeldChatsOptions {
  readonly maxOpen: number;
  readonly idleMs: number;
  readonly clock: Clock;
}

/** A chat without a session is never let go: its messages are nowhere else. */
export interface OpenedChat {
  readonly chat: ChatAgent;
  readonly agent: Agent;
  readonly session?: Session;
}

interface Holding {
  chat: Promise<ChatAgent>;
  opened?: OpenedChat;
  /** When the last request came or the last run ended, as `monotonicNow` says. */
  usedAt: number;
}

export class HeldChats {
  readonly #options: HeldChatsOptions;
  /** The least recently used first. */
  readonly #held = new Map<string, Holding>();
  /** The sessions that are being closed, or could not be. */
  readonly #closing = new Map<string, Promise<void>>();
  #isTicking = false;

  constructor(options: HeldChatsOptions) {
    this.#options = options;
  }

  /**
   * Returns the chat, which `make` opens if it is not open, once for calls that come at once. Rejects as
   * `make` does, and with the error of an earlier session of this chat that could not be closed. The
   * next call then tries again.
   */
  open(chatId: string, make: (forget: () => void) => Promise<OpenedChat>): Promise<ChatAgent> {
    const known = this.#held.get(chatId);
    const holding = known ?? this.#open(chatId, make);
    this.#touch(chatId, holding);
    if (this.#held.size > this.#options.maxOpen) this.#letGoIdle();
    return holding.chat;
  }

  #open(chatId: string, make: (forget: () => void) => Promise<OpenedChat>): Holding {
    const forget = (): void => {
      if (this.#held.get(chatId) === holding) this.#held.delete(chatId);
    };
    const open = async (): Promise<ChatAgent> => {
      await this.#closing.get(chatId)?.finally(() => this.#closing.delete(chatId));
      const opened = await make(forget);
      holding.opened = opened;
      opened.agent.subscribe(({ type }) => {
        if (type === "agent_end" && this.#held.get(chatId) === holding)
          this.#touch(chatId, holding);
      });
      if (opened.session) this.#tick();
      return opened.chat;
    };
    const holding: Holding = { chat: open(), usedAt: 0 };
    holding.chat.catch(forget);
    return holding;
  }

  #touch(chatId: string, holding: Holding): void {
    holding.usedAt = monotonicNow(this.#options.clock);
    this.#held.delete(chatId);
    this.#held.set(chatId, holding);
  }

  #letGoIdle(): void {
    const { maxOpen, idleMs, clock } = this.#options;
    const now = monotonicNow(clock);
    for (const [chatId, { opened, usedAt }] of this.#held) {
      const idle = now - usedAt;
      const isDue = idle >= idleMs || (this.#held.size > maxOpen && idle >= GRACE_MS);
      if (!isDue) return; // the others were used later
      if (opened?.session && !isBusy(opened)) this.#letGo(chatId, opened.session);
    }
  }

  #letGo(chatId: string, session: Session): void {
    this.#held.delete(chatId);
    const closing = session.close();
    this.#closing.set(chatId, closing);
    // The next request for the chat gets the error.
    closing.then(
      () => this.#closing.delete(chatId),
      () => {},
    );
  }

  /** Looks for idle chats now and then, as long as there are chats that may be let go. */
  #tick(): void {
    if (this.#isTicking) return;
    this.#isTicking = true;
    const { clock, idleMs } = this.#options;
    clock.setTimer(Math.min(idleMs, TICK_MS), () => {
      this.#isTicking = false;
      this.#letGoIdle();
      if (this.#held.size > 0) this.#tick();
    });
  }
}

/** A run that waits for an approval is going on. Readers of a run that is over need no agent. */
function isBusy({ agent }: OpenedChat): boolean {
  return agent.state.isStreaming || agent.hasQueuedMessages();
}
