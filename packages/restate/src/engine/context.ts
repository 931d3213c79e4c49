/**
 * What a run needs from the durable engine. `restate-context.ts` implements it with the SDK, and
 * tests with a journal in memory.
 */

/** A result that the engine will deliver. Only the pump waits for it. */
export interface Handle {
  /** For messages and errors. */
  readonly name: string;
}

/** The first of several results. */
export interface Outcome {
  readonly handle: Handle;
  /** The result. Bytes for a closure, anything for an awakeable. */
  readonly value?: unknown;
  /** The error of a closure that the engine does not retry. */
  readonly failure?: unknown;
}

export interface EngineContext {
  /** The session's id. */
  readonly key: string;
  readonly invocationId: string;
  /** Fires when this attempt is over. Another one may have begun. */
  readonly ended: AbortSignal;
  /**
   * Runs a closure once and journals its bytes. The closure starts when the pump waits, and not if
   * the journal has its result.
   */
  run(name: string, work: () => Promise<Uint8Array>): Handle;
  sleep(name: string, ms: number): Handle;
  /** Something that another process resolves by this id. */
  awakeable(name: string): { readonly id: string; readonly handle: Handle };
  /** Delivered when the invocation is cancelled. */
  cancellation(): Handle;
  /** The value of a state key. `null`: there is none. */
  get(name: string): Handle;
  set(name: string, value: unknown): void;
  clear(name: string): void;
  /**
   * Waits for the first result of several. Results come in the order of the journal, in each attempt.
   * A second call before the first has settled ends the attempt.
   */
  race(handles: readonly Handle[]): Promise<Outcome>;
}
