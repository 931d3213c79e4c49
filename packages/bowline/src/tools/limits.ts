/** What a caller may bound. Each tool has its own default beside it. */
import { BowlineError } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";

export interface ToolLimits {
  /**
   * How long a command of bash may take when its call does not say, in milliseconds. Default
   * 120,000.
   */
  readonly commandMs?: number;
  /** The longest that a call may ask for. Default 3,600,000, or `commandMs` where that is more. */
  readonly maxCommandMs?: number;
  /** How long grep and glob may search, in milliseconds. Default 60,000. */
  readonly searchMs?: number;
  /**
   * The most characters of one result's text, beside the line that says what was cut; at least 100.
   * Default 30,000 for bash, of which the middle is left out, 100,000 for read, which counts bytes,
   * and 4,000,000 for grep and glob, which also stop at a number of hits.
   */
  readonly resultCharacters?: number;
}

/** What a timer can wait; a longer one would fire at once. */
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
        `limits.${name} is above 0 and at most ${LONGEST_MS}, not ${ms}.`,
      );
    }
  }
  if (
    resultCharacters !== undefined &&
    !(Number.isInteger(resultCharacters) && resultCharacters >= FEWEST_CHARACTERS)
  ) {
    const rule = `a whole number from ${FEWEST_CHARACTERS} on`;
    throw new BowlineError(
      "invalid_argument",
      `limits.resultCharacters is ${rule}, not ${resultCharacters}.`,
    );
  }
}
