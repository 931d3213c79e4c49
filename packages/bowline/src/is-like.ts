/** Matches paths and command words against patterns with stars. */

/**
 * Returns true if the pattern matches the whole text. A single star does not match `separator`, if
 * one is given. Tries all alternatives in parallel: a model writes the text, and a regular
 * expression with several stars can backtrack exponentially.
 */
export function isLike(pattern: string, text: string, separator?: string): boolean {
  // `**/` matches any folders and a slash, or nothing, so its first step can skip all three.
  const steps = (pattern.match(/\*\*\/|\*\*|[^]/gu) ?? []).flatMap((step) =>
    step === "**/" ? [step, "**", "/"] : step,
  );
  const begun = new Uint8Array(steps.length + 1);
  begun[0] = 1;
  let reached = alsoWithout(steps, begun);
  for (const char of text) {
    const next = new Uint8Array(steps.length + 1);
    for (const [at, step] of steps.entries()) {
      if (reached[at] === 0) continue;
      if (step === "**" || (step === "*" && char !== separator)) next[at] = 1;
      else if (step === char) next[at + 1] = 1;
    }
    reached = alsoWithout(steps, next);
  }
  return reached[steps.length] === 1;
}

/**
 * Marks the steps that are reachable without another character, since a star may match nothing.
 * Changes `reached` and returns it.
 */
function alsoWithout(steps: readonly string[], reached: Uint8Array): Uint8Array {
  for (const [at, step] of steps.entries()) {
    if (reached[at] === 0 || !step.startsWith("*")) continue;
    reached[at + 1] = 1;
    if (step === "**/") reached[at + 3] = 1;
  }
  return reached;
}
