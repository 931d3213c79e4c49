/**
 * Saves the text of an answer while it streams. Only text is saved: thinking without its signature
 * and calls of a partial answer are never sent or run, so nobody needs them after a crash.
 */
import type { AgentEvent } from "../agent/contract/event.ts";
import { sleep, type Clock } from "../clock.ts";
import { defined } from "../json-value.ts";
import type { MessageOrigin } from "../llm/event.ts";
import type { EntryBody } from "./entry.ts";
import type { RunLog } from "./run-log.ts";

type Update = Extract<AgentEvent, { type: "message_update" }>;

/** The least time between two entries, in milliseconds. */
const SAVE_MS = 100;

/** Saves the text of a run's answers. The message of a complete answer replaces what it saved. */
export class StreamedText {
  readonly #log: RunLog;
  readonly #clock: Clock;
  #runId = "";
  #origin: MessageOrigin | undefined;
  /** Text that is not saved yet. */
  #pieces: { contentIndex: number; text: string }[] = [];
  /** The parts of the log's text that no longer count. */
  #retractedFrom: number | undefined = 0;
  /** Whether the log has text of this answer. */
  #isSaved = false;
  #isSaving = false;
  #end = new AbortController();

  constructor(log: RunLog, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Takes the text of an event. Nothing is written before it returns. */
  add({ runId, assistantMessageEvent: event, message }: Update): void {
    if (event.type === "text_delta") {
      const { contentIndex, delta } = event;
      const last = this.#pieces.at(-1);
      if (last?.contentIndex === contentIndex) last.text += delta;
      else this.#pieces.push({ contentIndex, text: delta });
    } else if (event.type === "message_retract") this.#retract(event.contentIndex);
    else return;
    this.#runId = runId;
    this.#origin = message;
    if (!this.#isSaving) void this.#save();
  }

  /** Forgets the answer, because its message is written now. */
  end(): void {
    this.#pieces = [];
    this.#retractedFrom = 0;
    this.#isSaved = false;
    this.#end.abort();
    this.#end = new AbortController();
  }

  #retract(from: number): void {
    this.#pieces = this.#pieces.filter(({ contentIndex }) => contentIndex < from);
    if (this.#isSaved) this.#retractedFrom = Math.min(from, this.#retractedFrom ?? from);
  }

  /** Saves what there is, waits, and repeats while there is more. */
  async #save(): Promise<void> {
    this.#isSaving = true;
    await Promise.resolve(); // the pieces of one batch are saved together
    while (this.#pieces.length > 0 || (this.#isSaved && this.#retractedFrom !== undefined)) {
      const { signal } = this.#end;
      try {
        await this.#log.add(this.#take());
      } catch {
        break; // the run's next entry reports the failure
      }
      await sleep(this.#clock, SAVE_MS, signal);
    }
    this.#isSaving = false;
  }

  #take(): EntryBody {
    const { api, provider, model, timestamp } = this.#origin as MessageOrigin;
    const retractedFrom = this.#retractedFrom;
    const origin = retractedFrom === undefined ? undefined : { api, provider, model, timestamp };
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#retractedFrom = undefined;
    this.#isSaved = true;
    const body = { type: "streamed_text", runId: this.#runId, pieces } as const;
    return { ...body, ...defined({ retractedFrom, origin }) };
  }
}
