/** Patterns with stars: of paths, and of the words of a command. */

/**
 * Returns true if the pattern covers all of the text; one star stops at the separator, if there is
 * one. Follows all ways side by side: the model writes the text, and a regular expression with
 * several stars can backtrack exponentially.
 */
export function isLike(pattern: string, text: string, separator?: string): boolean {
  // Any folders with the stroke behind them, or nothing: the first step leads over all three.
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
 * Adds the steps that need no further character, since a star may match nothing. Changes and
 * returns the list.
 */
function alsoWithout(steps: readonly string[], reached: Uint8Array): Uint8Array {
  for (const [at, step] of steps.entries()) {
    if (reached[at] === 0 || !step.startsWith("*")) continue;
    reached[at + 1] = 1;
    if (step === "**/") reached[at + 3] = 1;
  }
  return reached;
}
