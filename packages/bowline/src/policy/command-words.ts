/**
 * Splits a shell command into words, if it is plain. Anything with a second meaning in bash is not
 * split.
 */

/** Programs and builtins that run the command in their arguments, and keywords that begin one. */
const runsOthers: ReadonlySet<string> = new Set(
  (
    "eval exec source . sh bash dash zsh ksh fish env xargs sudo doas su nohup command builtin time timeout nice trap " +
    "ash rbash mksh csh tcsh pwsh xonsh nu busybox toybox setsid unshare nsenter chroot runuser pkexec run0 sg newgrp parallel watch " +
    "stdbuf ionice chrt taskset setarch linux32 linux64 i386 i486 i586 i686 x86_64 uname26 flock prlimit setpriv choom uclampset " +
    "runcon capsh numactl cgexec cpulimit script strace ltrace expect unbuffer logsave systemd-run systemd-inhibit systemd-nspawn " +
    "dbus-run-session dbus-launch ssh-agent bwrap firejail run-parts start-stop-daemon gtimeout gxargs genv at batch " +
    "if then else elif fi for while until do done case esac select function coproc"
  ).split(" "),
);

/** Builtins that change the meaning of the commands after them, or evaluate their arguments. */
const changesShell: ReadonlySet<string> = new Set(
  (
    "alias unalias hash enable set shopt export declare typeset readonly local unset let mapfile readarray compgen " +
    "complete compopt bind fc read getopts"
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
  const commands = split(command);
  return typeof commands === "string" ? undefined : commands;
}

/** Returns what in a command keeps it from being split, for a person. */
export function whyNotPlain(command: string): string | undefined {
  const commands = split(command);
  return typeof commands === "string" ? commands : undefined;
}

/** Returns the commands, or why they cannot be told. */
function split(command: string): string[][] | string {
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
    if (/^\d+[<>]/.test(rest) && silence === null) return nameOf(rest);
    const word = /^(?:[\w./:=@%+,-]+|'[^'\n]*'|"[^"$`\\!\n]*")+/.exec(rest);
    const found = space ?? joint ?? line ?? silence ?? word;
    if (found === null) return nameOf(rest);
    at += found[0].length;
    if (joint !== null) {
      if (current.length === 0) return EMPTY;
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
  for (const words of commands) {
    const why = whyNotSimple(words);
    if (why !== undefined) return why;
  }
  return commands;
}

const EMPTY = "a command is empty";

function whyNotSimple([first = ""]: readonly string[]): string | undefined {
  const program = programOf(first);
  if (program === "") return EMPTY;
  if (first.includes("=")) return `${first} sets a variable`;
  if (runsOthers.has(program) || runsOthers.has(nameOfProgram(program)))
    return `${program} runs other commands`;
  return changesShell.has(program) ? `${program} changes what later commands do` : undefined;
}

const names: readonly (readonly [RegExp, string])[] = [
  [/^[$`]/, "an expansion"],
  [/^\d*[<>]/, "a redirection"],
  [/^&/, "a command in the background"],
  [/^\\/, "a backslash"],
  [/^[(){}]/, "a group or an expansion in braces"],
  [/^[*?[\]]/, "a pattern for file names"],
  [/^~/, "the sign of a home folder"],
  [/^#/, "a comment"],
  [/^!/, "an exclamation mark"],
  [/^['"]/, "a quote with an expansion, or without its end"],
];

/** Names what the rest of a command begins with: a pattern as a whole, anything else by its start. */
function nameOf(rest: string): string {
  const [, name = "a character that could be read differently"] =
    names.find(([form]) => form.test(rest)) ?? [];
  const shown = /^[*?[\]][^\s;&|]*/.exec(rest)?.[0] ?? rest;
  const start = Array.from(shown.slice(0, 40)).slice(0, 20).join("");
  const mark = start.length < shown.length ? "…" : "";
  return `it has ${name}: ${JSON.stringify(`${start}${mark}`)}`;
}

/** Returns the name of a program without its folders. */
export function programOf(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}

/** Returns the name of a program without a version at its end, such as that of python3.11. */
export function nameOfProgram(program: string): string {
  return program.replace(/\.exe$/i, "").replace(/(?<=[a-z])[-.]?\d.*$/i, "");
}

function unquote(word: string): string {
  return word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2");
}
