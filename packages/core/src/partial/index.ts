/** The entry `@bowline/core/partial`: structured output and tool arguments while they arrive. */
export { anyOutput } from "./any-output.ts";
export type { AnyOutput } from "./any-output.ts";
export type { DeepPartial, InferInput } from "./deep-partial.ts";
export { applyIncrement } from "./increment.ts";
export type { Increment, IncrementValue, PartialPath } from "./increment.ts";
export { partialArguments } from "./partial-arguments.ts";
export type { PartialArgumentsEvent, PartialOutputEvent, ResetReason } from "./partial-event.ts";
export { partialOutput } from "./partial-output.ts";
export type {
  ElementsOptions,
  PartialElement,
  PartialOutput,
  PartialOutputOptions,
} from "./partial-output.ts";
