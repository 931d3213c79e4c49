/**
 * What one client receives of one run, over all its connections. Each event must come once and in order, up
 * to one end.
 */
import type { EventFrame } from "bowline/client";
import { RunFold } from "./folded-run.ts";

export type RunFrame = Extract<EventFrame, { readonly data: { readonly seq: number } }>;
export type EndFrame = EventFrame<"chat.final" | "chat.error" | "chat.aborted">;

export class RunStream {
  readonly client: string;
  readonly session: string;
  readonly runId: string;
  /** Whether the client has to receive all of the run. Others may have come too late for it. */
  isOwn: boolean;
  readonly faults: string[] = [];
  readonly fold = new RunFold();
  /** The last events, for the evidence. */
  readonly recent: string[] = [];
  snapshots = 0;
  #seq = -1;
  #end: EndFrame | undefined;
  readonly #ended = Promise.withResolvers<void>();

  constructor(client: string, session: string, runId: string, isOwn: boolean) {
    this.client = client;
    this.session = session;
    this.runId = runId;
    this.isOwn = isOwn;
  }

  /** The number of the last event. -1 before the first. */
  get seq(): number {
    return this.#seq;
  }

  get end(): EndFrame | undefined {
    return this.#end;
  }

  /** Resolves at the run's end. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  take(frame: RunFrame): void {
    const { event, data } = frame;
    const { seq } = data;
    const first = "firstSeq" in data && data.firstSeq !== undefined ? data.firstSeq : seq;
    this.#remember(frame);
    if (this.#end !== undefined) this.#fault(`${event} ${seq} came after the end`);
    if (event === "chat.snapshot") {
      this.snapshots++;
      if (seq < this.#seq) this.#fault(`the snapshot ${seq} came after ${this.#seq}`);
    } else if (first <= this.#seq) this.#fault(`${event} ${first} came after ${this.#seq}`);
    else if (first > this.#seq + 1) {
      const what = this.#seq < 0 ? "the first event is" : `after ${this.#seq} comes`;
      this.#fault(`${what} ${event} ${first}, which is no snapshot`);
    }
    this.#seq = seq;
    this.fold.take(frame);
    if (event !== "chat.final" && event !== "chat.error" && event !== "chat.aborted") return;
    this.#end = frame;
    this.#ended.resolve();
  }

  /** Keeps for the evidence what happened beside the events. */
  note(text: string): void {
    this.recent.push(`${Date.now()} ${text}`);
    if (this.recent.length > RECENT) this.recent.shift();
  }

  #remember({ event, data }: RunFrame): void {
    const { sessionKey: _, runId: _id, ...rest } = data;
    this.recent.push(`${Date.now()} ${event} ${JSON.stringify(rest).slice(0, 300)}`);
    if (this.recent.length > RECENT) this.recent.shift();
  }

  #fault(text: string): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push(text);
  }
}

const RECENT = 40;
const MAX_FAULTS = 5;
