/**
 * Splits a shell command into words, if it is plain. Anything with a second meaning in bash is not
 * split.
 */

/** Programs and builtins that run the command in their arguments, and keywords that begin one. */
const runsOthers: ReadonlySet<string> = new Set(
  (
    "eval exec source . sh bash dash zsh ksh fish env xargs sudo doas su nohup command builtin time timeout nice trap " +
    "busybox toybox setsid unshare nsenter chroot runuser pkexec parallel watch stdbuf ionice chrt taskset setarch flock " +
    "script strace ltrace expect unbuffer systemd-run at batch " +
    "if then else elif fi for while until do done case esac select function coproc"
  ).split(" "),
);

/** Builtins that change the meaning of the commands after them, or evaluate their arguments. */
const changesShell: ReadonlySet<string> = new Set(
  (
    "alias unalias hash enable set shopt export declare typeset readonly local unset let mapfile readarray compgen " +
    "complete compopt bind fc"
  ).split(" "),
);

/** Redirections that neither read nor write a file. */
const SILENCE = /^(?:[12]?>>?[ \t]*\/dev\/null|2>&1|1?>&2|<[ \t]*\/dev\/null)(?=[\s;|&]|$)/;

/**
 * Returns the simple commands joined by `&&`, `||`, `;`, `|` and line feeds, each as words. Leaves
 * out redirections to `/dev/null` and between the two outputs. Returns undefined for anything that
 * bash may read differently.
 */
export function commandWords(command: string): string[][] | undefined {
  const commands: string[][] = [[]];
  let isOpen = true; // after an operator, which needs another command
  let at = 0;
  while (at < command.length) {
    const rest = command.slice(at);
    const current = commands.at(-1) as string[];
    const space = /^[ \t]+/.exec(rest);
    const joint = /^(?:&&|\|\||;|\|)(?![&|;])/.exec(rest);
    const line = /^\n/.exec(rest);
    const silence = SILENCE.exec(rest);
    // Quotes are allowed only around text without expansions.
    const word = /^(?:[\w./:=@%+,-]+|'[^'\n]*'|"[^"$`\\!\n]*")+/.exec(rest);
    const found = space ?? joint ?? line ?? silence ?? word;
    if (found === null) return undefined;
    at += found[0].length;
    if (joint !== null) {
      if (current.length === 0) return undefined;
      commands.push([]);
      isOpen = true;
    } else if (line !== null) {
      if (current.length > 0) commands.push([]);
    } else if (silence === null && word !== null) {
      current.push(unquote(word[0]));
      isOpen = false;
    }
  }
  if (!isOpen && commands.at(-1)?.length === 0) commands.pop();
  return commands.every(isPlain) ? commands : undefined;
}

function isPlain([first = ""]: readonly string[]): boolean {
  const program = programOf(first);
  const isSimple = program !== "" && !first.includes("=");
  return isSimple && !runsOthers.has(program) && !changesShell.has(program);
}

/** Returns the name of a program without its folders. */
export function programOf(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}

function unquote(word: string): string {
  return word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2");
}
