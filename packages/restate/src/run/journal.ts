/**
 * Journals results with the time at which they came to be. The time of the last delivered result is
 * the run's time between steps, so it is the same in each attempt.
 */
import { BowlineError } from "@bowline/core";
import type { EngineContext, Handle } from "../engine/context.ts";
import { Pump, type Wait } from "../engine/pump.ts";

/** What the journal has. */
interface Recorded<T> {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Absent for `undefined`. */
  readonly value?: T;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Journal {
  readonly context: EngineContext;
  readonly pump: Pump;
  #now = 0;

  readonly #clock: () => number;

  /**
   * `onCancel` is called once when the invocation is cancelled. `clock` is the time of closures, and
   * `rest` that of {@link Pump}.
   */
  constructor(
    context: EngineContext,
    onCancel: () => void,
    clock: () => number = Date.now,
    rest?: () => Promise<unknown>,
  ) {
    this.context = context;
    this.#clock = clock;
    this.pump = new Pump(context, onCancel, rest);
  }

  /** The time of the last delivered result, in milliseconds since the epoch. */
  get now(): number {
    return this.#now;
  }

  /** The time of closures, in milliseconds since the epoch. It differs in each attempt. */
  time(): number {
    return this.#clock();
  }

  /** Moves the time on. It never goes back, even if clocks of machines differ. */
  advance(at: number): void {
    if (at > this.#now) this.#now = at;
  }

  /**
   * Runs `work` once for this name, and resolves with its result as JSON represents it. An error
   * with `retryable` ends the attempt. `read` may convert the result before the run goes on.
   */
  record<T, U = T>(
    name: string,
    work: () => Promise<T>,
    read: (value: T) => U | Promise<U> = (value) => value as unknown as U,
  ): Promise<U> {
    const handle = this.context.run(name, async () => {
      const value = await work();
      return encode({ at: this.#clock(), value }, name);
    });
    return this.pump.wait(handle, (bytes) => {
      const { at, value } = JSON.parse(decoder.decode(bytes as Uint8Array)) as Recorded<T>;
      this.advance(at);
      return read(value as T);
    });
  }

  /** The value of a state key, or undefined. */
  state<T>(name: string): Promise<T | undefined> {
    return this.pump.wait(this.context.get(name), (value) => (value as T | null) ?? undefined);
  }

  add<T>(handle: Handle, read: (value: unknown) => T): Wait<T> {
    return this.pump.add(handle, read);
  }
}

function encode(recorded: Recorded<unknown>, name: string): Uint8Array {
  try {
    return encoder.encode(JSON.stringify(recorded));
  } catch (cause) {
    throw new BowlineError("invalid_argument", `The result of ${name} is not JSON.`, { cause });
  }
}
