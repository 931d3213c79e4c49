/** Patterns with stars: of paths, and of the words of a command. */

/**
 * Whether a pattern covers all of a text; one star stops at the separator, if there is one. All
 * ways are followed side by side: a text is the model's, and a regular expression of several stars
 * can take for ever over one.
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
 * What can be reached further without another letter: stars may stand for nothing. Changes and
 * gives the list.
 */
function alsoWithout(steps: readonly string[], reached: Uint8Array): Uint8Array {
  for (const [at, step] of steps.entries()) {
    if (reached[at] === 0 || !step.startsWith("*")) continue;
    reached[at + 1] = 1;
    if (step === "**/") reached[at + 3] = 1;
  }
  return reached;
}
