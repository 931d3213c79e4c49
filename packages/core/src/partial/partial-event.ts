/** The events of values that are still arriving. JSON-safe and small: each carries one step. */
import type { RunEndReason } from "../agent/contract/event.ts";
import type { ErrorInfo } from "../errors.ts";
import type { DeepPartial } from "./deep-partial.ts";
import type { Increment, IncrementValue, PartialPath } from "./increment.ts";
import type { Live } from "./live-value.ts";

/** Which call the arguments belong to. */
interface OfCall {
  readonly toolCallId: string;
}

/** The live value, on events of a running stream only. */
interface WithLive<TInput> {
  /**
   * The whole value so far: one shared object that keeps growing, as the model writes it and not
   * validated. Do not change it. It is a getter of the class, so it is not enumerable and never
   * serialised.
   */
  readonly partial?: DeepPartial<TInput>;
}

/**
 * Why a value begins again. `retracted`: the server failed, and the answer is withdrawn. `invalid`:
 * the value was refused, and the model may correct it. `replaced`: a later value takes its place.
 */
export type ResetReason = "retracted" | "invalid" | "replaced";

/** Discard the value. The next increment begins a new one. */
interface ResetEvent {
  readonly type: "partial_reset";
  readonly reason: ResetReason;
}

/** The text is not JSON, so the value grows no further. The run decides what follows. */
interface StoppedEvent {
  readonly type: "partial_stopped";
  readonly message: string;
}

/** An event of {@link partialOutput}. */
export type PartialOutputEvent<TInput = unknown, TOutput = TInput> =
  | (Increment & { readonly type: "partial_output" } & WithLive<TInput>)
  | ResetEvent
  | StoppedEvent
  /** The last event: the run has ended. */
  | {
      readonly type: "partial_end";
      readonly reason: RunEndReason;
      /** The validated value. Absent if the run ended without one. */
      readonly output?: TOutput;
      readonly error?: ErrorInfo;
    };

/** An event of {@link partialArguments}. */
export type PartialArgumentsEvent<TInput = unknown, TArguments = TInput> =
  | (Increment & { readonly type: "partial_arguments" } & OfCall & WithLive<TInput>)
  | (ResetEvent & OfCall)
  | (StoppedEvent & OfCall)
  /** The call's arguments are complete. */
  | ({
      readonly type: "partial_end";
      /** The arguments, if they fit the tool's schema. Hooks may still change or refuse them. */
      readonly arguments?: TArguments;
      /** Why the call will not run with these arguments. */
      readonly message?: string;
    } & OfCall);

/** An increment with the live value behind a getter. Streams make thousands of them. */
export class LiveIncrement {
  declare readonly type: "partial_output" | "partial_arguments";
  declare readonly toolCallId?: string;
  declare readonly op: Increment["op"];
  declare readonly path: PartialPath;
  declare readonly increment: IncrementValue;
  readonly #live: Live;

  constructor({ op, path, increment }: Increment, live: Live, toolCallId?: string) {
    this.type = toolCallId === undefined ? "partial_output" : "partial_arguments";
    if (toolCallId !== undefined) this.toolCallId = toolCallId;
    this.op = op;
    this.path = path;
    this.increment = increment;
    this.#live = live;
  }

  get partial(): unknown {
    return this.#live.value;
  }
}
