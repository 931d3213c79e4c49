/**
 * Splits a shell command into words, if it is plain. Anything with a second meaning in bash is not
 * split.
 */

/** Commands that run other commands, and keywords that begin one. */
const runsOthers: ReadonlySet<string> = new Set(
  (
    "eval exec source . sh bash dash zsh ksh fish env xargs sudo doas su nohup command builtin time timeout nice trap " +
    "if then else elif fi for while until do done case esac select function coproc"
  ).split(" "),
);

/**
 * Returns the simple commands joined by `&&`, `||`, `;` and `|`, each as words. Returns undefined
 * for anything that bash may read differently.
 */
export function commandWords(command: string): string[][] | undefined {
  const commands: string[][] = [[]];
  let at = 0;
  while (at < command.length) {
    const rest = command.slice(at);
    const space = /^[ \t]+/.exec(rest);
    const joint = /^(?:&&|\|\||;|\|)(?![&|;])/.exec(rest);
    // Quotes are allowed only around text without expansions.
    const word = /^(?:[\w./:=@%+,-]+|'[^'\n]*'|"[^"$`\\!\n]*")+/.exec(rest);
    const found = space ?? joint ?? word;
    if (found === null) return undefined;
    at += found[0].length;
    if (joint !== null) commands.push([]);
    else if (word !== null) commands.at(-1)?.push(unquote(word[0]));
  }
  const isPlain = commands.every(
    ([first = ""]) => first !== "" && !first.includes("=") && !runsOthers.has(first),
  );
  return isPlain ? commands : undefined;
}

function unquote(word: string): string {
  return word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2");
}
