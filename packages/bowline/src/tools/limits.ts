/** Limits that the caller can set. Each tool has its own defaults. */
import { BowlineError } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";

export interface ToolLimits {
  /** Default timeout of a bash command, in milliseconds. Default 120,000. */
  readonly commandMs?: number;
  /**
   * Longest timeout that a call may request, in milliseconds. Default 3,600,000, or `commandMs` if
   * that is more.
   */
  readonly maxCommandMs?: number;
  /** Time limit of grep and glob, in milliseconds. Default 60,000. */
  readonly searchMs?: number;
  /**
   * The maximum length of one result's text, in characters, without the note about what was cut; at
   * least 100. Default 30,000 for bash, which cuts the middle, and 100,000 for read, which counts
   * bytes. Default 4,000,000 for grep and glob, which also limit the number of hits.
   */
  readonly resultCharacters?: number;
}

/** Longest delay of a timer; Node fires a longer one at once. */
const LONGEST_MS = 2 ** 31 - 1;
const FEWEST_CHARACTERS = 100;

const limitNames: Readonly<Record<keyof ToolLimits, true>> = {
  commandMs: true,
  maxCommandMs: true,
  resultCharacters: true,
  searchMs: true,
};

/** Throws `invalid_argument` for an unknown limit, and for one out of range. */
export function checkLimits(limits: ToolLimits): void {
  checkNames(limits, Object.keys(limitNames), "limit");
  const { resultCharacters, ...times } = limits;
  for (const [name, ms] of Object.entries(times)) {
    if (ms !== undefined && !(ms > 0 && ms <= LONGEST_MS)) {
      throw new BowlineError(
        "invalid_argument",
        `limits.${name} must be above 0 and at most ${LONGEST_MS}, not ${ms}.`,
      );
    }
  }
  if (
    resultCharacters !== undefined &&
    !(Number.isInteger(resultCharacters) && resultCharacters >= FEWEST_CHARACTERS)
  ) {
    const rule = `a whole number of at least ${FEWEST_CHARACTERS}`;
    throw new BowlineError(
      "invalid_argument",
      `limits.resultCharacters must be ${rule}, not ${resultCharacters}.`,
    );
  }
}
