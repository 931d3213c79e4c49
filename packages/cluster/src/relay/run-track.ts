/**
 * What a gateway has passed on of one run. Turns messages that may be lost, repeated, mixed with those
 * of other attempts and late into each event once, in order, up to the run's end.
 */
import { isEnd, type AnsweredRun, type LiveEvent, type LivePosition } from "../wire/messages.ts";

/** The most events that wait for what is missing before them, and their length in characters. */
const MAX_HELD = 2000;
const MAX_HELD_LENGTH = 4 * 1024 * 1024;

export class RunTrack {
  readonly runId: string;
  #attempt = 0;
  /** The last number that was passed on. Undefined: the next event must be a snapshot. */
  #position: number | undefined;
  #isEnded = false;
  /** The run's last event, until the stored session has the end too. */
  #end: LiveEvent | undefined;
  #isLacking = false;
  /** Whether the run's first event may have been before the events that are heard here. */
  #hasBegun = false;
  #held: LiveEvent[] = [];
  #heldLength = 0;

  constructor(runId: string) {
    this.runId = runId;
  }

  get position(): number | undefined {
    return this.#position;
  }

  get attempt(): number {
    return this.#attempt;
  }

  /** Whether the clients here may know the run. */
  get isHeard(): boolean {
    return this.#attempt > 0 || this.#hasBegun;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Whether events are missing, so that a worker has to be asked. */
  get isLacking(): boolean {
    return this.#isLacking && !this.#isEnded;
  }

  /** Whether the run's last event is here. It counts when {@link confirm} is called. */
  get isEnding(): boolean {
    return this.#end !== undefined && !this.#isEnded;
  }

  /** Whether the last event that is here has this outcome. */
  endsAs(state: string): boolean {
    return this.#end?.event === `chat.${state}`;
  }

  /** The stored session has the run's end. Returns the last event, which is passed on now. */
  confirm(): readonly LiveEvent[] {
    const end = this.#end;
    if (end === undefined || this.#isEnded) return [];
    this.end();
    return [end];
  }

  /** Keeps an event for later, when it is known whether the run is over. */
  hold(event: LiveEvent): void {
    this.#held.push(event);
    this.#heldLength += event.frame.json.length;
    if (this.#held.length <= MAX_HELD && this.#heldLength <= MAX_HELD_LENGTH) return;
    // Too much is missing: a snapshot has all of it.
    this.#dropHeld();
    this.#position = undefined;
  }

  /** Returns the held events, to be taken again. */
  release(): LiveEvent[] {
    const held = this.#held.toSorted((a, b) => a.attempt - b.attempt || a.seq - b.seq);
    this.#dropHeld();
    return held;
  }

  /** Returns the events to pass on now. Empty for what is old, repeated, too early or of no attempt. */
  take(event: LiveEvent): readonly LiveEvent[] {
    const taken = this.#takeOne(event);
    return taken.length > 0 || this.isEnding ? [...taken, ...this.#drain()] : taken;
  }

  /** Notes how far an attempt is. */
  note({ attempt, seq }: LivePosition): void {
    if (this.#isEnded || attempt < this.#attempt) return;
    if (attempt > this.#attempt) this.#begin(attempt);
    if (this.#position === undefined || seq > this.#position) this.#isLacking = true;
  }

  /** Takes the answer to a question for what follows {@link position}. Returns what to pass on. */
  absorb({ attempt, seq, frames }: AnsweredRun): readonly LiveEvent[] {
    if (this.#isEnded || attempt < this.#attempt) return [];
    if (attempt > this.#attempt) this.#begin(attempt);
    this.#isLacking = false;
    const taken = frames.flatMap((frame) => this.#takeOne(frame));
    // The attempt has sent nothing yet. If the clients here may have less than the one that asked, nothing
    // new for that one says nothing about them: they need a snapshot.
    if (this.#position === undefined && frames.length === 0 && !this.#hasBegun)
      this.#position = seq;
    return [...taken, ...this.#drain()];
  }

  /** Begins after what a worker answered, which the only client gets by itself. */
  adopt({ attempt, seq, state }: AnsweredRun): readonly LiveEvent[] {
    if (this.#isEnded || attempt < this.#attempt) return [];
    this.#attempt = attempt;
    this.#position = seq;
    this.#isLacking = false;
    if (state === "queued" || state === "running") return this.#drain();
    this.end();
    return [];
  }

  /**
   * A client got the stored run instead of its events, so the next event must be a snapshot.
   */
  withdraw(): void {
    if (this.#isEnded) return;
    this.#position = undefined;
    this.#hasBegun = true;
    this.#isLacking = true;
    this.#end = undefined;
  }

  /** No event follows: the run is over. */
  end(): void {
    this.#isEnded = true;
    this.#end = undefined;
    this.#dropHeld();
  }

  #takeOne(event: LiveEvent): readonly LiveEvent[] {
    const { attempt, seq } = event;
    const isSnapshot = event.event === "chat.snapshot";
    if (this.#isEnded || attempt < this.#attempt) return [];
    if (attempt > this.#attempt) this.#begin(attempt);
    const last = this.#position ?? (this.#isFirst(event) ? -1 : undefined);
    if (last !== undefined && seq <= last) return [];
    if (!isSnapshot && (last === undefined || seq > last + 1)) {
      this.#isLacking = true;
      this.hold(event);
      return [];
    }
    this.#position = seq;
    if (isSnapshot) this.#isLacking = false;
    // An attempt that nobody follows any more may end otherwise than the run.
    if (!isEnd(event.event)) return [event];
    this.#end = event;
    return [];
  }

  /** The first event of a run that nothing was heard of. */
  #isFirst({ seq }: LiveEvent): boolean {
    return seq === 0 && this.#position === undefined && !this.#hasBegun;
  }

  /** A later attempt withdraws what was passed on. Its first event must be a snapshot. */
  #begin(attempt: number): void {
    this.#hasBegun ||= this.#attempt > 0;
    this.#end = undefined;
    this.#attempt = attempt;
    const later = this.#held.filter((held) => held.attempt >= attempt);
    this.#dropHeld();
    for (const held of later) this.hold(held);
    // The numbers of the earlier attempt are below, so a snapshot of this one passes.
    if (this.#position !== undefined) this.#isLacking = true;
  }

  /** Takes held events, which are sorted: those after a gap are held again. */
  #drain(): LiveEvent[] {
    const taken = this.release().flatMap((held) => this.#takeOne(held));
    this.#isLacking = this.#held.length > 0;
    return taken;
  }

  #dropHeld(): void {
    this.#held = [];
    this.#heldLength = 0;
  }
}
