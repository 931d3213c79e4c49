/**
 * What works in a conversation: a run, a line of the shell or a compaction, one at a time. Messages
 * that are sent meanwhile wait in the agent's queues, or here if no run can take them yet.
 */
import { isBowlineError, type RunResult, type UserMessage } from "@bowline/core";
import type { Draft } from "../screen/editor/draft.ts";
import type { Editor } from "../screen/editor/editor.ts";
import type { Moment, NoticeLevel } from "./block.ts";
import { joinDrafts } from "./join-drafts.ts";
import type { Runtime } from "./runtime.ts";
import type { Action } from "./state.ts";
import { userMessage, type PlanNote } from "./user-message.ts";

export interface WorkHost {
  readonly editor: Editor;
  readonly now: () => number;
  /** Undefined until a model is found. */
  readonly runtime: () => Runtime | undefined;
  dispatch(action: Action): void;
  notice(text: string, level?: NoticeLevel): void;
  /** Waits for what a run needs, at most some seconds, or until the signal fires. */
  ready(signal: AbortSignal): Promise<void>;
  /** Returns a message as hooks leave it. Rejects if one of them refuses it. */
  submitted(message: UserMessage, signal: AbortSignal): Promise<UserMessage>;
  /** Whether messages are checked before they are sent. */
  checksMessages(): boolean;
  /** Sends a draft as if it had been typed now. */
  submit(draft: Draft, moment: Moment): void;
  /** Called when something begins or ends to work. */
  changed(): void;
  /** Whether queued messages have no line of their own. */
  isPlain(): boolean;
}

export class Work {
  readonly #host: WorkHost;
  #current: AbortController | undefined;
  /** Messages that were typed before a run could take them. */
  #early: Draft[] = [];
  #planNote: PlanNote | undefined;
  /** The checks of messages that were sent during a run, in their order. */
  #checks: Promise<void> = Promise.resolve();

  constructor(host: WorkHost) {
    this.#host = host;
  }

  get isBusy(): boolean {
    return this.#current !== undefined;
  }

  /** True between an interrupt and the end of what it stops. */
  get isInterrupted(): boolean {
    return this.#current?.signal.aborted === true;
  }

  /** The next message tells the model about plan mode. */
  notePlan(isOn: boolean): void {
    this.#planNote = isOn ? "on" : "off";
  }

  send(draft: Draft, moment: Moment): void {
    const host = this.#host;
    const runtime = host.runtime();
    if (runtime === undefined || (this.isBusy && !runtime.agent.state.isStreaming)) {
      this.#early.push(draft);
      return host.dispatch({ type: "hint", text: "The message is sent as soon as it can be." });
    }
    const message = userMessage(draft, host.now(), this.#planNote);
    this.#planNote = undefined;
    if (!this.isBusy) {
      const prompt = async (signal: AbortSignal): Promise<RunResult> => {
        const checked = await host.submitted(message, signal);
        signal.throwIfAborted();
        return runtime.prompt(checked, signal);
      };
      return void this.run(prompt, draft);
    }
    if (!host.checksMessages()) return this.#enqueue(runtime, message, draft, moment);
    this.#checks = this.#checks.then(() => this.#enqueueChecked(runtime, message, draft, moment));
  }

  #enqueue(runtime: Runtime, message: UserMessage, draft: Draft, moment: Moment): void {
    const host = this.#host;
    const { id } = runtime.enqueue(moment, message, draft);
    host.dispatch({ type: "queued", item: { id, moment, text: draft.text } });
    if (host.isPlain())
      host.notice(`Queued for after ${moment === "steering" ? "this step" : "the turn"}.`);
  }

  /** A message that hooks refuse comes back to the draft. The run may have ended meanwhile. */
  async #enqueueChecked(
    runtime: Runtime,
    message: UserMessage,
    draft: Draft,
    moment: Moment,
  ): Promise<void> {
    const host = this.#host;
    try {
      const checked = await host.submitted(message, new AbortController().signal);
      if (host.runtime() !== runtime) throw new Error("The conversation was changed meanwhile.");
      if (!this.isBusy) void this.run((signal) => runtime.prompt(checked, signal), draft);
      else if (runtime.agent.state.isStreaming) this.#enqueue(runtime, checked, draft, moment);
      else this.#early.push(draft);
    } catch (error) {
      this.#prepend([draft]);
      host.notice(messageOf(error), "error");
    }
  }

  /** Sends what was typed before it could be sent. */
  sendEarly(): void {
    const [first, ...rest] = this.#early;
    if (first === undefined) return;
    this.#early = [];
    this.#host.submit(first, "steering");
    for (const draft of rest) this.#host.submit(draft, "followUp");
  }

  /** Performs a run. If it does not end by itself, what waits comes back to the draft. */
  async run(work: (signal: AbortSignal) => Promise<RunResult>, draft?: Draft): Promise<void> {
    await this.perform(async (signal) => {
      try {
        await this.#host.ready(signal);
        signal.throwIfAborted();
        const { reason } = await work(signal);
        if (reason !== "done") this.giveBack();
      } catch (error) {
        if (draft !== undefined) this.#prepend([draft]);
        this.giveBack();
        throw error;
      }
    });
  }

  async perform(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const current = new AbortController();
    this.#current = current;
    this.#host.changed();
    try {
      await work(current.signal);
    } catch (error) {
      if (!current.signal.aborted || !isAbort(error)) this.#host.notice(messageOf(error), "error");
    } finally {
      this.#current = undefined;
      this.#host.changed();
    }
    this.sendEarly();
  }

  /** Stops what works, and gives queued messages back to the draft. None of them is sent. */
  interrupt(): void {
    this.giveBack();
    this.#host.dispatch({ type: "interrupting" });
    this.#current?.abort();
    this.#host.runtime()?.agent.abort("interrupted");
  }

  /** Gives all messages that wait back to the draft. */
  giveBack(): void {
    const items = this.#host.runtime()?.queue.takeAll() ?? [];
    const early = this.#early;
    this.#early = [];
    this.#host.dispatch({ type: "unqueued", ids: items.map(({ id }) => id) });
    this.#prepend([...items.map(({ draft }) => draft), ...early]);
  }

  /** Takes the last queued message back into the draft. Returns false if there is none. */
  takeBack(): boolean {
    const item = this.#host.runtime()?.queue.takeLast();
    if (item === undefined) return false;
    this.#host.dispatch({ type: "unqueued", ids: [item.id] });
    this.#prepend([item.draft]);
    return true;
  }

  #prepend(drafts: readonly Draft[]): void {
    const { editor } = this.#host;
    if (drafts.length > 0) editor.set(joinDrafts([...drafts, editor.draft()]));
  }
}

function isAbort(error: unknown): boolean {
  return (
    (isBowlineError(error) && error.code === "aborted") ||
    (error instanceof Error && error.name === "AbortError")
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
