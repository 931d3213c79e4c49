/**
 * Waits for all results of an attempt, in one place. Two waits at a time end an attempt, and so does
 * each of its retries. One result at a time, in the order of the journal, also makes parallel tools
 * and aborts the same in each attempt.
 */
import { setImmediate } from "node:timers/promises";
import type { EngineContext, Handle } from "./context.ts";

/** A wait that can be given up. */
export interface Wait<T> {
  readonly result: Promise<T>;
  /** Waits no more. The promise then stays pending. */
  readonly drop: () => void;
}

interface Entry {
  /** Settles the promise with what was delivered. */
  readonly deliver: (value: unknown) => Promise<void>;
  readonly fail: (error: unknown) => void;
}

export class Pump {
  readonly #context: EngineContext;
  readonly #onCancel: () => void;
  readonly #rest: () => Promise<unknown>;
  readonly #entries = new Map<Handle, Entry>();
  readonly #cancellation: Handle;
  #isCancelled = false;
  #isRunning = false;

  /**
   * `onCancel` is called once, between two results. `rest` resolves when the loop has nothing to do
   * but to wait.
   */
  constructor(
    context: EngineContext,
    onCancel: () => void,
    rest: () => Promise<unknown> = setImmediate,
  ) {
    this.#rest = rest;
    this.#context = context;
    this.#onCancel = onCancel;
    this.#cancellation = context.cancellation();
  }

  /**
   * Waits for a result. `read` converts it. No other result is delivered before the promise that
   * `read` returns has settled.
   */
  add<T>(handle: Handle, read: (value: unknown) => T | Promise<T>): Wait<T> {
    const result = new Promise<T>((resolve, reject) => {
      const deliver = async (value: unknown): Promise<void> => {
        try {
          resolve(await read(value));
        } catch (error) {
          reject(error);
        }
      };
      this.#entries.set(handle, { deliver, fail: reject });
    });
    if (!this.#isRunning) {
      this.#isRunning = true;
      void this.#run();
    }
    return { result, drop: () => void this.#entries.delete(handle) };
  }

  wait<T>(handle: Handle, read: (value: unknown) => T | Promise<T>): Promise<T> {
    return this.add(handle, read).result;
  }

  async #run(): Promise<void> {
    try {
      await this.#deliverAll();
      this.#isRunning = false;
    } catch (error) {
      for (const { fail } of this.#entries.values()) fail(error);
      this.#entries.clear();
    }
  }

  async #deliverAll(): Promise<void> {
    for (;;) {
      // The loop comes to rest, so that everything that it starts takes part in the next wait. The
      // engine does not start what is added during a wait.
      await this.#rest();
      if (this.#entries.size === 0 || this.#context.ended.aborted) return;
      const handles = [...this.#entries.keys()];
      if (!this.#isCancelled) handles.push(this.#cancellation);
      const { handle, value, failure } = await this.#context.race(handles);
      if (handle === this.#cancellation) {
        this.#isCancelled = true;
        this.#onCancel();
        continue;
      }
      const entry = this.#entries.get(handle);
      this.#entries.delete(handle);
      if (failure === undefined) await entry?.deliver(value);
      else entry?.fail(failure);
    }
  }
}
