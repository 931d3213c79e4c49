/** The messages between the main thread and its workers. */
import type { Wire } from "./acceptors/accept.ts";
import type { Base } from "./bases.ts";
import type { BaseResult } from "./try-base.ts";

export type Task =
  | { readonly kind: "bases"; readonly wire: Wire; readonly seed: number; readonly count: number }
  | {
      readonly kind: "mutants";
      readonly base: Base;
      readonly seed: number;
      readonly count: number;
    };

export type Answer =
  | { readonly kind: "bases"; readonly wire: Wire; readonly bases: readonly Base[] }
  | { readonly kind: "mutants"; readonly wire: Wire; readonly result: BaseResult };
