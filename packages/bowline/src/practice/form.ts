import type { Step } from "./step.ts";

/** What the named parts of a wording held. */
export type Parts = Readonly<Record<string, string | undefined>>;

/** Something the practice model can be asked for: the wordings it accepts, and the step they become. */
export interface Form {
  /** For the help; forms without one are not listed there. */
  readonly example?: string;
  /** Wordings of a whole phrase, tried in order; the notation is described at `toPattern`. */
  readonly wordings: readonly string[];
  /** `refs` is <place> as paths; this folder if it was left out. */
  readonly toStep: (parts: Parts, refs: readonly string[]) => Step;
}
