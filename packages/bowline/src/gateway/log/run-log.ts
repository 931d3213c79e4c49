/**
 * The numbered events of one run. Buffers the last ones for reconnecting clients, and builds the
 * run's content from all of them.
 */
import { addToBlocks } from "./blocks.ts";
import type { EventFrame } from "../protocol/frame.ts";
import type { Frame } from "./outbox.ts";
import { snapshotBlocks } from "./snapshot.ts";
import type {
  Block,
  EventData,
  EventName,
  Events,
  RunEventData,
  RunInfo,
  RunState,
} from "../protocol/protocol.ts";

/** Names of the events that belong to a run. */
export type RunEventName = {
  [E in EventName]: Events[E] extends RunEventData ? E : never;
}[EventName];

export type RunEventBody<E extends RunEventName> = Omit<EventData<E>, keyof RunEventData>;

export interface RunLogOptions {
  readonly runId: string;
  readonly sessionKey: string;
  readonly maxEvents: number;
  readonly maxLength: number;
  /** Size limit of a snapshot, in bytes. Default 3 MiB. */
  readonly maxSnapshot?: number;
  /** Sends an event to the subscribers. */
  readonly publish: (frame: Frame, event: RunEventName) => void;
}

/** Cost of an event beside its text, in bytes. */
const OVERHEAD = 400;
const MAX_SNAPSHOT = 3 * 1024 * 1024;

export class RunLog {
  readonly runId: string;
  readonly sessionKey: string;
  #state: RunState = "queued";
  readonly #options: RunLogOptions;
  #blocks: Block[] = [];
  #frames: { readonly seq: number; readonly frame: Frame; readonly event: RunEventName }[] = [];
  #length = 0;
  /** Length of all events, from which the blocks are built. */
  #total = 0;
  #next = 0;
  /** The first buffered `seq`. */
  #heldFrom = 0;
  #isStopped = false;

  constructor(options: RunLogOptions) {
    this.#options = options;
    this.runId = options.runId;
    this.sessionKey = options.sessionKey;
  }

  get state(): RunState {
    return this.#state;
  }

  /** Ignored after {@link stop}: the state it would set is not the run's end. */
  set state(state: RunState) {
    if (!this.#isStopped) this.#state = state;
  }

  get info(): RunInfo {
    const { runId, sessionKey, state } = this;
    return { runId, sessionKey, state, seq: this.#next - 1 };
  }

  /** Memory in use, in bytes, approximately. */
  get size(): number {
    return this.#total + this.#length + this.#frames.length * OVERHEAD;
  }

  /** Resumes a run of an earlier process with its saved blocks. Partial answers are lost. */
  continueFrom(seq: number, blocks: readonly Block[]): void {
    this.#next = seq;
    this.#heldFrom = seq;
    this.#blocks = [...blocks];
  }

  /**
   * Sends a snapshot to the subscribers. They may have seen a partial answer that is no longer
   * valid.
   */
  show(): void {
    if (!this.#isStopped) this.#options.publish(this.#snapshot(), "chat.snapshot");
  }

  /** True while the run is queued or running, so that more events may follow. */
  get isOpen(): boolean {
    return isOpen(this.state);
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Appends nothing from now on: another process will resume the run. */
  stop(): void {
    this.#isStopped = true;
  }

  append<E extends RunEventName>(event: E, body: RunEventBody<E>): void {
    if (this.#isStopped) return;
    const { runId, sessionKey } = this;
    const seq = this.#next++;
    const data = { runId, sessionKey, seq, ...body } as unknown as EventData<E>;
    addToBlocks(this.#blocks, { event, data } as EventFrame);
    const json = JSON.stringify({ event, data });
    const frame: Frame =
      event === "chat.delta" || event === "chat.thinking"
        ? { json, runId, seq, event, delta: data as EventData<"chat.delta"> }
        : { json, runId, seq };
    this.#frames.push({ seq, frame, event });
    this.#length += json.length;
    this.#total += json.length;
    this.#trim();
    this.#options.publish(frame, event);
  }

  /**
   * Returns the buffered events after `seq`. Returns a snapshot if they are no longer buffered, or
   * without `seq`.
   */
  since(seq: number | undefined): { readonly frame: Frame; readonly event: RunEventName }[] {
    if (seq !== undefined && seq >= this.#heldFrom - 1 && seq < this.#next)
      return this.#frames.filter((held) => held.seq > seq);
    if (this.#next === 0 && this.#blocks.length === 0) return [];
    return [{ frame: this.#snapshot(), event: "chat.snapshot" }, ...this.#terminal()];
  }

  #snapshot(): Frame {
    const { runId, sessionKey, state } = this;
    // The run's last event keeps its own number after the snapshot.
    const seq = this.#next - 1 - this.#terminal().length;
    const blocks = snapshotBlocks(this.#blocks, this.#options.maxSnapshot ?? MAX_SNAPSHOT);
    const data: EventData<"chat.snapshot"> = { runId, sessionKey, seq, state, blocks };
    return { json: JSON.stringify({ event: "chat.snapshot", data }), runId, seq };
  }

  #terminal(): { readonly frame: Frame; readonly event: RunEventName }[] {
    const last = this.#frames.at(-1);
    return last !== undefined && isTerminal(last.event) ? [last] : [];
  }

  #trim(): void {
    const { maxEvents, maxLength } = this.#options;
    if (this.#frames.length <= maxEvents && this.#length <= maxLength) return;
    // Drop half at once to keep the cost per event low. Keep the last event.
    const first = Math.min(Math.ceil(this.#frames.length / 2), this.#frames.length - 1);
    for (const { frame } of this.#frames.splice(0, first)) this.#length -= frame.json.length;
    this.#heldFrom = this.#frames[0]?.seq ?? this.#next;
  }
}

/** Returns true if more events may follow. */
export function isOpen(state: RunState): boolean {
  return state === "queued" || state === "running";
}

export function isTerminal(event: EventName): boolean {
  return event === "chat.final" || event === "chat.error" || event === "chat.aborted";
}
