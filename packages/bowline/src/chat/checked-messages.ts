/**
 * Passes messages through the hooks of the settings, and adds the files that they mention, before
 * the agent gets them. One that is sent
 * during a run waits in its place meanwhile, and can be edited and removed as any other.
 */
import type { UserMessage } from "@bowline/core";
import type { Draft } from "../screen/editor/draft.ts";
import type { NoticeLevel } from "./block.ts";
import type { Runtime } from "./runtime.ts";
import type { Waiting, WaitingMessage } from "./waiting.ts";

export interface MessageChecks {
  /** Undefined until a model is found. */
  readonly runtime: () => Runtime | undefined;
  /** Returns a message as it is sent. Rejects if a hook refuses it. */
  submitted(message: UserMessage, draft: Draft, signal: AbortSignal): Promise<UserMessage>;
  /** Returns whether {@link submitted} may change or refuse the message of a draft. */
  checks(draft: Draft): boolean;
  notice(text: string, level?: NoticeLevel): void;
}

interface Parts {
  readonly host: MessageChecks;
  readonly waiting: Waiting;
  /** Returns whether a run or other work goes on. */
  readonly isBusy: () => boolean;
  /** Begins a run with a message. */
  readonly begin: (message: UserMessage, draft: Draft) => void;
  /** Keeps a message that no run can take now. The next run begins with it, and checks it again. */
  readonly later: (item: WaitingMessage) => void;
  /** Puts a refused message back. */
  readonly back: (item: WaitingMessage) => void;
}

export class CheckedMessages {
  readonly #parts: Parts;
  /** Hooks run one after the other, in the order in which the messages were sent. */
  #last: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns the message for a run that begins. Rejects if a hook refuses it. */
  async now(message: UserMessage, draft: Draft, signal: AbortSignal): Promise<UserMessage> {
    const checked = await this.#parts.host.submitted(message, draft, signal);
    signal.throwIfAborted();
    return checked;
  }

  /** Gives a waiting message to the run: at once, or when no hook refuses it. */
  release(runtime: Runtime, item: WaitingMessage, message: UserMessage): void {
    const { host, waiting } = this.#parts;
    const { id, moment, draft, note } = item;
    if (!host.checks(draft)) return waiting.release(id, { moment, draft, note, message });
    waiting.release(id, { moment, draft, note });
    const unchecked = waiting.find(id);
    if (typeof unchecked === "string") return;
    this.#last = this.#last.then(() => this.#check(runtime, unchecked, message));
  }

  /** Does nothing for a message that was edited, removed or given back meanwhile. */
  async #check(runtime: Runtime, item: WaitingMessage, message: UserMessage): Promise<void> {
    const { host, waiting, isBusy, begin, later, back } = this.#parts;
    const isSame = (): boolean => waiting.find(item.id) === item;
    if (!isSame()) return;
    try {
      const checked = await host.submitted(message, item.draft, new AbortController().signal);
      if (!isSame()) return;
      if (host.runtime() !== runtime) throw new Error("The conversation was changed meanwhile.");
      const { id, moment, draft, note } = item;
      if (!isBusy()) {
        waiting.remove(id);
        begin(checked, draft);
      } else if (runtime.agent.state.isStreaming)
        waiting.release(id, { moment, draft, note, message: checked });
      else later(item);
    } catch (error) {
      if (!isSame()) return;
      waiting.remove(item.id);
      back(item);
      host.notice(error instanceof Error ? error.message : String(error), "error");
    }
  }
}
