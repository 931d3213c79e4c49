/**
 * What works in a conversation: a run, a line of the shell or a compaction, one at a time. Messages
 * that are sent meanwhile wait in the agent's queues, or here if no run can take them yet.
 */
import { isBowlineError, type RunResult } from "@bowline/core";
import { draftOf, type Draft } from "../screen/editor/draft.ts";
import type { Editor } from "../screen/editor/editor.ts";
import { joinDrafts } from "../screen/editor/join-drafts.ts";
import { oneLine } from "../terminal.ts";
import type { Moment } from "./block.ts";
import { CheckedMessages, type MessageChecks } from "./checked-messages.ts";
import { EditWaiting } from "./edit-waiting.ts";
import { finishRun } from "./finish-run.ts";
import { present } from "./present.ts";
import type { Action } from "./state.ts";
import { userMessage, type PlanNote } from "./user-message.ts";
import { momentWords } from "./waiting-text.ts";
import { Waiting, type Missing, type WaitingMessage, type WaitMoment } from "./waiting.ts";

export interface WorkHost extends MessageChecks {
  readonly editor: Editor;
  readonly now: () => number;
  dispatch(action: Action): void;
  /** Waits for what a run needs, at most some seconds, or until the signal fires. */
  ready(signal: AbortSignal): Promise<void>;
  /** Called when something begins or ends to work. */
  changed(): void;
  /** Whether queued messages have no line of their own. */
  isPlain(): boolean;
}

export class Work {
  readonly #host: WorkHost;
  readonly #waiting: Waiting;
  readonly #checked: CheckedMessages;
  /** The message that is edited, if any. */
  readonly edit: EditWaiting;
  #current: AbortController | undefined;
  #planNote: PlanNote | undefined;

  constructor(host: WorkHost) {
    this.#host = host;
    this.#waiting = new Waiting(
      () => host.runtime()?.agent,
      () => this.showQueue(),
    );
    this.edit = new EditWaiting({
      editor: host.editor,
      waiting: this.#waiting,
      hint: (text) => this.#hint(text),
      isBusy: () => this.isBusy,
      sendAgain: (...sent) => this.#sendAgain(...sent),
      drop: (item) => this.#drop(item),
      changed: () => this.showQueue(),
    });
    this.#checked = new CheckedMessages({
      host,
      waiting: this.#waiting,
      isBusy: () => this.isBusy,
      begin: (message, draft) =>
        void this.run(() => present(host.runtime()).prompt(message), draft),
      later: ({ id, draft, note }) => {
        this.#planNote ??= note;
        this.#waiting.release(id, { moment: "early", draft });
      },
      back: (item) => this.#refused(item),
    });
  }

  get isBusy(): boolean {
    return this.#current !== undefined;
  }

  /** True between an interrupt and the end of what it stops. */
  get isInterrupted(): boolean {
    return this.#current?.signal.aborted === true;
  }

  /** The messages that wait, in the order in which they are sent. */
  get items(): readonly WaitingMessage[] {
    return this.#waiting.items;
  }

  /** The next message tells the model about plan mode. */
  notePlan(isOn: boolean): void {
    this.#planNote = isOn ? "on" : "off";
  }

  send(draft: Draft, moment: Moment): void {
    const host = this.#host;
    const runtime = host.runtime();
    if (runtime === undefined || (this.isBusy && !runtime.agent.state.isStreaming))
      return this.#tellQueued(this.#waiting.add({ moment: "early", draft }));
    const note = this.#planNote;
    const message = userMessage(draft, host.now(), note);
    this.#planNote = undefined;
    if (!this.isBusy)
      return void this.run(
        async (signal) => runtime.prompt(await this.#checked.now(message, draft, signal)),
        draft,
      );
    const item = this.#waiting.add({ moment, draft, note });
    this.#tellQueued(item);
    this.#checked.release(runtime, item, message);
  }

  /** Sends the first message that was typed before it could be sent. The others follow it. */
  sendEarly(): void {
    const due = this.#waiting.takeEarly();
    if (due !== undefined) this.send(due.draft, "steering");
  }

  /** Forgets a message that a run has begun with. */
  started(message: unknown): void {
    this.#waiting.started(message);
  }

  /** Performs a run. If it does not end by itself, what waits comes back to the draft. */
  async run(work: (signal: AbortSignal) => Promise<RunResult>, draft?: Draft): Promise<void> {
    await this.perform(async (signal) => {
      try {
        await this.#host.ready(signal);
        signal.throwIfAborted();
        const { reason } = await finishRun(await work(signal), {
          runtime: present(this.#host.runtime()),
          waiting: this.#waiting,
          signal,
        });
        if (reason !== "done") this.giveBack(true);
      } catch (error) {
        this.giveBack(true, draft);
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
    this.giveBack(false);
    this.#host.dispatch({ type: "interrupting" });
    this.#current?.abort();
    this.#host.runtime()?.agent.abort("interrupted");
  }

  /**
   * Gives the messages that wait back to the draft, after `first`. With `isOver`, also those that
   * the run has taken and not begun with.
   */
  giveBack(isOver: boolean, first?: Draft): void {
    const { editor } = this.#host;
    const { id, edited, draft } = this.edit.end();
    const items = this.#waiting.takeAll(isOver);
    if (items.length === 0 && first === undefined) return;
    const back = items.map((item) => (item.id === id ? edited : item.draft));
    this.#planNote ??= items.findLast(({ note }) => note !== undefined)?.note;
    const all = joinDrafts([...(first === undefined ? [] : [first]), ...back, draft]);
    this.showQueue();
    if (!this.#host.isPlain()) return editor.set(all);
    editor.aside = joinDrafts([all, editor.aside ?? joinDrafts([])]);
    this.#host.notice(
      `Not sent: ${oneLine(all.text, 400)}\nIt goes out with your next message. Ctrl-C drops it.`,
    );
  }

  /** Replaces the text of a waiting message, which keeps its place. Its images stay. */
  replace(id: number, text: string): WaitingMessage | Missing {
    if (this.edit.id === id) this.edit.leave(true);
    const item = this.#waiting.hold(id);
    if (typeof item === "string") return item;
    const images = item.draft.parts.filter(({ type }) => type === "image");
    this.#sendAgain(item, draftOf([{ type: "text", text }, ...images]), item.moment);
    return item;
  }

  /** Keeps a message from being taken, until {@link release}. */
  hold(id: number): WaitingMessage | Missing {
    return this.#waiting.hold(id);
  }

  /**
   * Puts a held message back, with this text or as it was. Returns false if it was given back to the
   * draft meanwhile.
   */
  release(item: WaitingMessage, text: string | undefined): boolean {
    if (typeof this.#waiting.find(item.id) === "string") return false;
    if (text === undefined) this.#sendAgain(item, item.draft, item.moment);
    else this.replace(item.id, text);
    return true;
  }

  /** Removes a waiting message, so that it is not sent. */
  remove(id: number): WaitingMessage | Missing {
    const item = this.#waiting.find(id);
    if (typeof item === "object" && this.edit.id === id) {
      this.edit.remove();
      return item;
    }
    const removed = this.#waiting.remove(id);
    if (typeof removed === "object") this.#planNote ??= removed.note;
    return removed;
  }

  /** Gives a waiting message another moment. It is the last of that one. */
  move(id: number, moment: Moment): WaitingMessage | Missing {
    if (this.edit.id === id) this.edit.leave();
    const item = this.#waiting.hold(id);
    if (typeof item === "object") this.#sendAgain(item, item.draft, moment);
    return item;
  }

  /** Shows the messages that wait. */
  showQueue(): void {
    const { id: edited } = this.edit;
    const queue = this.items.map(({ id, moment, draft: { text } }) => ({
      id,
      moment,
      text,
      ...(id === edited && { isEdited: true as const }),
    }));
    const aside = edited === undefined ? undefined : this.#host.editor.aside?.text;
    this.#host.dispatch({ type: "queue", queue, ...(aside !== undefined && { aside }) });
  }

  /** Sends a held message again: to its place, or at once if nothing works. */
  #sendAgain(item: WaitingMessage, draft: Draft, moment: WaitMoment): void {
    const runtime = this.#host.runtime();
    const { id, note } = item;
    if (this.isBusy && runtime?.agent.state.isStreaming === true) {
      const to = moment === "early" ? "steering" : moment;
      const message = userMessage(draft, this.#host.now(), note);
      return this.#checked.release(runtime, { id, moment: to, draft, note }, message);
    }
    this.#planNote ??= note;
    if (runtime === undefined || this.isBusy)
      return this.#waiting.release(id, { moment: "early", draft });
    this.#waiting.remove(id);
    this.send(draft, "steering");
  }

  #drop({ id, note }: WaitingMessage): void {
    this.#waiting.remove(id);
    this.#planNote ??= note;
  }

  /** A message that hooks refuse comes back to the draft. */
  #refused({ draft, note }: WaitingMessage): void {
    const { editor } = this.#host;
    this.#planNote ??= note;
    if (this.#host.isPlain()) editor.aside = joinDrafts([draft, editor.aside ?? joinDrafts([])]);
    else editor.set(joinDrafts([draft, editor.draft()]));
  }

  #tellQueued({ id, moment }: WaitingMessage): void {
    if (this.#host.isPlain())
      this.#host.notice(`Queued as ${id}, ${momentWords[moment]}. /queue lists what waits.`);
  }

  #hint(text: string): void {
    if (this.#host.isPlain()) this.#host.notice(text);
    else this.#host.dispatch({ type: "hint", text });
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
