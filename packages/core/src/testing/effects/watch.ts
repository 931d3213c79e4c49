/** Observes the effects of an attempt, and stops it where the case wants. */
import type { Effects } from "../../agent/contract/effects.ts";
import type { StepAbout } from "../../agent/contract/step.ts";

/** A moment of an effect's call. `worked`: the work is done and not recorded. */
export type Phase = "before" | "worked" | "after";

/** Where an attempt stops: at the call with this number, from 0. */
export interface Stop {
  readonly call: number;
  readonly phase: Phase;
}

/** Facts about all attempts at a run. */
export interface History {
  /** Whether the engine records each effect, and attempts replay the loop. */
  readonly replays: boolean;
  /** Names of steps that have a recorded result. */
  readonly recorded: Set<string>;
  /** The steps whose work began, by name. */
  readonly begun: Map<string, StepAbout>;
  /** Names of steps whose work has ended, so that their results may be recorded. */
  readonly worked: Set<string>;
  /** Ids of calls that were announced and must not be repeated. */
  readonly announced: Set<string>;
  /** What went wrong. */
  readonly faults: string[];
}

export class Watch {
  /** The names of the calls, in their order. */
  readonly names: string[] = [];
  /** The stops that were possible. */
  readonly stops: Stop[] = [];
  readonly #history: History;
  readonly #stop: Stop | undefined;
  /** The names of steps that are recorded by the time of the next call. */
  #answered: string[] = [];
  readonly #stopped = new AbortController();
  /** Resolves when the attempt has stopped. */
  readonly reached: Promise<void>;
  /** Ids of calls that must not be repeated, and whose work earlier attempts began and did not end. */
  readonly lost: ReadonlySet<string>;
  /** Ids of calls that were announced and must not be repeated. */
  readonly announced: ReadonlySet<string>;

  constructor(history: History, stop?: Stop) {
    this.announced = new Set(history.announced);
    const lost = [...history.begun].filter(([name]) => !history.worked.has(name));
    this.lost = new Set(
      lost.flatMap(([, about]) =>
        about.kind === "tool" && about.replay === "never" ? about.toolCallId : [],
      ),
    );
    this.#history = history;
    this.#stop = stop;
    this.reached = new Promise((resolve) =>
      this.stopped.addEventListener("abort", () => resolve(), { once: true }),
    );
  }

  get stopped(): AbortSignal {
    return this.#stopped.signal;
  }

  /** Wraps the effects that are given. */
  readonly watch = <T extends Partial<Effects>>(effects: T): T => {
    const { step, decide, inbox, begin, child, waitFor } = effects;
    const names = this.#history;
    const watched: Partial<Effects> = {
      ...(step && {
        step: (name, fn, about) =>
          this.#call(name, async (at) => {
            // Its intent may be recorded, and its work may not begin.
            if (about.kind === "tool" && about.replay === "never")
              names.announced.add(about.toolCallId);
            const result = await step.call(
              effects,
              name,
              () => this.#work(at, name, fn, about),
              about,
            );
            // The record of a session's model step is the message that follows.
            if (names.replays || about.kind === "tool") names.recorded.add(name);
            else this.#answered.push(name);
            return result as never;
          }),
      }),
      ...(decide && {
        decide: (name, fn) =>
          this.#call(
            name,
            (at) =>
              decide.call(effects, name, async () =>
                this.#pause(at, "worked", await fn()),
              ) as never,
          ),
      }),
      ...(inbox && {
        inbox: (kind, turn) =>
          this.#call(`inbox:${kind}:${turn}`, async () => inbox.call(effects, kind, turn)),
      }),
      ...(begin && {
        begin: (calls) =>
          this.#call(`begin:${calls.map(({ toolCallId }) => toolCallId).join()}`, async () => {
            for (const { toolCallId, replay } of calls)
              if (replay === "never") names.announced.add(toolCallId);
            return begin.call(effects, calls);
          }),
      }),
      ...(child && {
        child: (name, start) => this.#call(name, async () => child.call(effects, name, start)),
      }),
      ...(waitFor && {
        waitFor: (name, options) =>
          this.#call(`wait:${name}`, () => waitFor.call(effects, name, options) as never),
      }),
    };
    return { ...effects, ...watched };
  };

  async #call<T>(name: string, run: (at: number) => Promise<T>): Promise<T> {
    if (this.stopped.aborted) return hang();
    for (const answered of this.#answered.splice(0)) this.#history.recorded.add(answered);
    const at = this.names.push(name) - 1;
    await this.#pauseIf(at, "before");
    const value = await run(at).catch((error: unknown) => {
      if (this.stopped.aborted) return hang<T>();
      throw error;
    });
    return this.#pause(at, "after", value);
  }

  async #work<T>(at: number, name: string, fn: () => Promise<T>, about: StepAbout): Promise<T> {
    const { begun, recorded, worked, faults } = this.#history;
    if (recorded.has(name)) faults.push(`${name} ran again, although its result was recorded`);
    if (about.kind === "tool" && about.replay === "never" && begun.has(name))
      faults.push(`${name} ran again, although it must not be repeated`);
    if (this.stopped.aborted) return hang();
    begun.set(name, about);
    const result = await this.#pause(at, "worked", await fn());
    worked.add(name);
    return result;
  }

  #pause<T>(at: number, phase: Phase, value: T): T | Promise<T> {
    this.stops.push({ call: at, phase });
    if (this.#stop?.call === at && this.#stop.phase === phase) this.#stopped.abort();
    return this.stopped.aborted ? hang() : value;
  }

  #pauseIf(at: number, phase: Phase): void | Promise<void> {
    return this.#pause(at, phase, undefined);
  }
}

function hang<T>(): Promise<T> {
  return new Promise(() => {});
}
