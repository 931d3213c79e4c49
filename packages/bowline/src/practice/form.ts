import type { Step } from "./step.ts";

/** What the named parts of a wording held; `message` is all that the person wrote. */
export type Parts = Readonly<Record<string, string | undefined>>;

/** A kind of request: the wordings it accepts, and the step for it. */
export interface Form {
  /** An example for the help. Forms without one are not listed. */
  readonly example?: string;
  /** Wordings of a whole phrase, tried in order. `toPattern` describes the notation. */
  readonly wordings: readonly string[];
  /** `refs` are the paths in <place>, or the current folder if there is none. */
  readonly toStep: (parts: Parts, refs: readonly string[]) => Step;
}
