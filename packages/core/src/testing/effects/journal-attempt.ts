/**
 * Effects of one attempt over a journal. It delivers one result at a time, in the order of the
 * record, and lets the loop come to rest in between: this makes abort and parallel tools the same
 * on each replay.
 */
import { onAbort, type Clock } from "../../clock.ts";
import { BowlineError, errorText } from "../../errors.ts";
import type { AgentMessage } from "../../agent/contract/agent-message.ts";
import type { Effects, InboxKind, WaitOptions } from "../../agent/contract/effects.ts";
import type { StepAbout, StepResult, ToolStep } from "../../agent/contract/step.ts";
import { unknownOutcome } from "../../session/recorded-calls.ts";
import { atRest } from "./case-clock.ts";
import { fromRecord, toRecord, type Delivery, type Journal, type Outcome } from "./journal.ts";

/** What the attempts share beside the journal. */
export interface Medium {
  readonly journal: Journal;
  readonly startedAt: number;
  readonly answers: Map<string, { readonly value: unknown; readonly at: number }>;
  readonly queues: Readonly<Record<InboxKind, AgentMessage[]>>;
}

interface Pending {
  readonly name: string;
  readonly settle: (outcome: Outcome) => void;
}

export class JournalAttempt implements Effects {
  readonly patience = "none";
  readonly approvedTools: Set<string> = new Set();
  readonly ended: AbortSignal;
  readonly #medium: Medium;
  readonly #clock: Clock;
  readonly #number: number;
  readonly #abort: () => void;
  readonly #fail: (error: Error) => void;
  readonly #pending = new Map<number, Pending>();
  readonly #answered = new Map<string, () => void>();
  /** Attempts that announced calls, by idempotency key. */
  readonly #intents = new Map<string, number>();
  /** Deliveries of earlier attempts that are due, then those of this one. */
  readonly #due: Delivery[];
  #replayed = 0;
  #calls = 0;
  #now: number;
  #isPumping = false;

  constructor(
    medium: Medium,
    about: {
      readonly clock: Clock;
      readonly ended: AbortSignal;
      readonly number: number;
      readonly abort: () => void;
      /** Called when the record does not fit. */
      readonly fail: (error: Error) => void;
    },
  ) {
    this.#medium = medium;
    this.#clock = about.clock;
    this.#number = about.number;
    this.#abort = about.abort;
    this.#fail = about.fail;
    this.ended = about.ended;
    this.#now = medium.startedAt;
    this.#due = [...medium.journal.deliveries];
    this.#replayed = this.#due.length;
  }

  now(): number {
    return this.#now;
  }

  async step<T extends StepResult>(
    name: string,
    fn: () => Promise<T>,
    about: StepAbout,
  ): Promise<T> {
    const isForeign =
      about.kind === "tool" &&
      about.replay === "never" &&
      this.#intents.get(about.idempotencyKey) !== this.#number;
    const work = isForeign ? async (): Promise<unknown> => unknownOutcome(about) : fn;
    return (await this.#call(name, work)) as T;
  }

  async begin(calls: readonly ToolStep[]): Promise<void> {
    const by = await this.#call(`begin:${calls[0]?.toolCallId}`, async () => this.#number);
    for (const { idempotencyKey } of calls) this.#intents.set(idempotencyKey, by as number);
  }

  async decide<T>(name: string, fn: () => Promise<T>): Promise<T> {
    return (await this.#call(name, fn)) as T;
  }

  async inbox(kind: InboxKind, turn: number): Promise<readonly AgentMessage[]> {
    const drain = (): AgentMessage[] => this.#medium.queues[kind].splice(0);
    return (await this.#call(`inbox:${kind}:${turn}`, async () => drain)) as AgentMessage[];
  }

  hasQueued(kind: InboxKind): boolean {
    return this.#medium.queues[kind].length > 0;
  }

  waitFor<T>(name: string, { signal, until }: WaitOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const releases: (() => void)[] = [];
      const end = (settle: () => void): void => {
        this.#pending.delete(index);
        for (const release of releases) release();
        settle();
      };
      const index = this.#register(`wait:${name}`, (outcome) =>
        end(() => {
          if (!("isTimeout" in outcome)) resolve(fromRecord(outcome) as T);
          else reject(new BowlineError("timeout", "There was no answer in time."));
        }),
      );
      const look = (): void => {
        const answer = this.#medium.answers.get(name);
        if (answer) this.#deliver(index, toRecord(name, answer.value), answer.at);
      };
      this.#answered.set(name, look);
      if (until !== undefined)
        releases.push(
          this.#clock.setTimer(until - this.#clock.now(), () =>
            this.#deliver(index, { isTimeout: true }, this.#clock.now()),
          ),
        );
      releases.push(
        onAbort(signal, () =>
          end(() => reject(new BowlineError("aborted", "The wait was aborted."))),
        ),
      );
      look();
    });
  }

  publish(): void {}

  /** Whether the loop has not come to rest after a result. */
  get isBusy(): boolean {
    return this.#isPumping && !this.ended.aborted;
  }

  /** Tells a pending wait that its answer is there. */
  answered(name: string): void {
    this.#answered.get(name)?.();
  }

  aborted(): void {
    this.#push({ abort: true, at: this.#clock.now() });
  }

  #call(name: string, work: () => Promise<unknown>): Promise<unknown> {
    return new Promise((resolve) => {
      const index = this.#register(name, (outcome) => {
        this.#pending.delete(index);
        resolve(fromRecord(outcome as { value?: string }));
      });
      if (this.#isRecorded(index)) return;
      work().then(
        // A function is the part of the work that must not be lost between it and its record.
        (value) => {
          if (this.ended.aborted) return;
          const result: unknown = typeof value === "function" ? (value as () => unknown)() : value;
          this.#guard(() => this.#deliver(index, toRecord(name, result), this.#clock.now()));
        },
        (error: unknown) => this.#fail(new Error(`"${name}" rejected: ${errorText(error)}`)),
      );
    });
  }

  #register(name: string, settle: Pending["settle"]): number {
    const index = this.#calls++;
    this.#guard(() => this.#medium.journal.begin(index, name));
    this.#pending.set(index, { name, settle });
    void this.#pump();
    return index;
  }

  #isRecorded(index: number): boolean {
    return this.#due.some((one) => "call" in one && one.call === index);
  }

  #deliver(call: number, outcome: Outcome, at: number): void {
    if (this.#pending.has(call) && !this.#isRecorded(call)) this.#push({ call, outcome, at });
  }

  #push(delivery: Delivery): void {
    if (this.ended.aborted) return;
    this.#medium.journal.deliveries.push(delivery);
    this.#due.push(delivery);
    void this.#pump();
  }

  async #pump(): Promise<void> {
    if (this.#isPumping) return;
    this.#isPumping = true;
    for (;;) {
      await atRest();
      const next = this.#due[0];
      if (next === undefined || this.ended.aborted) break;
      const pending = "call" in next ? this.#pending.get(next.call) : undefined;
      if ("call" in next && pending === undefined && this.#replayed > 0) break; // not made yet
      this.#due.shift();
      this.#replayed--;
      this.#now = Math.max(this.#now, next.at);
      if ("abort" in next) this.#abort();
      else pending?.settle(next.outcome);
    }
    this.#isPumping = false;
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(error as Error);
    }
  }
}
