/** Asks the workers of a session what a gateway has missed. */
import { GatewayError, SEQ_PER_ATTEMPT } from "bowline/engine";
import type { Clock } from "@bowline/core";
import type { Bus, BusMessage } from "../bus/bus.ts";
import { fromReply, type AnsweredRun, type Ask } from "../wire/messages.ts";
import { Parcels } from "../wire/parcel.ts";
import type { Subjects } from "../wire/subjects.ts";

/** How long to wait for an answer, and for a better one after the first, in milliseconds. */
const ASK_MS = 1500;
const GATHER_MS = 20;
/** The most questions at a time. Further ones wait; more than `MAX_WAITING` are refused. */
const MAX_ASKING = 256;
const MAX_WAITING = 10_000;

interface Open {
  hear(message: BusMessage): void;
}

export class Asker {
  readonly #bus: Bus;
  readonly #subjects: Subjects;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #inbox: string;
  readonly #stop: () => void;
  readonly #open = new Map<string, Open>();
  #next = 0;
  #asking = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    bus: Bus,
    subjects: Subjects,
    { clock, maxBytes }: { readonly clock: Clock; readonly maxBytes: number },
  ) {
    this.#bus = bus;
    this.#subjects = subjects;
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    this.#inbox = bus.createInbox();
    this.#stop = bus.subscribe(`${this.#inbox}.*`, (message) => this.#hear(message));
  }

  /**
   * Returns what the workers know. Returns undefined if none answers in time, such as when the run is
   * over or no process executes it. Throws `busy` if too many questions wait. `known` returns the
   * attempt at a run that was heard of: a worker that was taken over answers too, and is ignored.
   */
  async ask(
    ask: Ask,
    known: (runId: string) => number,
  ): Promise<readonly AnsweredRun[] | undefined> {
    if (this.#waiting.length >= MAX_WAITING)
      throw new GatewayError("busy", "Too many clients connect at once.", { retryable: true });
    if (this.#asking >= MAX_ASKING)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#asking++;
    try {
      return await this.#ask(ask, known);
    } finally {
      this.#asking--;
      this.#waiting.shift()?.();
    }
  }

  close(): void {
    this.#stop();
  }

  #ask(ask: Ask, heard: (runId: string) => number): Promise<readonly AnsweredRun[] | undefined> {
    const { runId: askedId, seq = 0 } = ask;
    // The asker has events of this attempt, also where nothing was heard of it.
    const asked = Math.floor(seq / SEQ_PER_ATTEMPT);
    const least = (runId: string): number => Math.max(heard(runId), runId === askedId ? asked : 0);
    const token = String(this.#next++);
    const parcels = new Parcels(this.#maxBytes * 2);
    const known = new Map<string, AnsweredRun>();
    let hasAnswer = false;
    return new Promise((resolve) => {
      const finish = (): void => {
        stop();
        this.#open.delete(token);
        resolve(hasAnswer ? [...known.values()] : undefined);
      };
      let stop = this.#clock.setTimer(ASK_MS, finish);
      const hear = ({ payload, isUnheard }: BusMessage): void => {
        if (isUnheard) return finish();
        const parcel = parcels.take(payload);
        const runs = parcel && fromReply(parcel);
        if (runs === undefined) return;
        for (const run of runs)
          if (run.attempt > (known.get(run.runId)?.attempt ?? least(run.runId) - 1))
            known.set(run.runId, run);
        if (hasAnswer) return;
        hasAnswer = true;
        stop();
        // Several workers may know runs of the session, also one whose run was taken over.
        stop = this.#clock.setTimer(GATHER_MS, finish);
      };
      this.#open.set(token, { hear });
      const payload = new TextEncoder().encode(JSON.stringify(ask));
      this.#bus.publish(this.#subjects.ask(ask.sessionKey), payload, `${this.#inbox}.${token}`);
      // Without a connection nobody answers, and waiting would only delay.
      if (!this.#bus.isConnected) finish();
    });
  }

  #hear(message: BusMessage): void {
    const { subject } = message;
    this.#open.get(subject.slice(this.#inbox.length + 1))?.hear(message);
  }
}
