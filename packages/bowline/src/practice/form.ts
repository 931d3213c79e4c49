import type { Step } from "./step.ts";

/** The text of each named part of a wording. `message` is the person's whole message. */
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
