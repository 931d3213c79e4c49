/**
 * Options that write files or run programs, by program. A rule that ends in a star was written for
 * the harmless ones, so a call with such an option is asked about. A rule that names the option
 * itself, or the whole command, covers it.
 *
 * The table cannot be complete: a program that is not in it is judged by the common names only.
 */
import { programOf } from "./command-words.ts";

interface Risk {
  /** The program runs or evaluates its arguments, so no open rule covers it. */
  readonly isInterpreter?: true;
  /** Letters of options with one dash, also in groups (`-ni`). */
  readonly letters?: string;
  /** Long options without their dashes, also abbreviated as GNU programs allow. */
  readonly options?: string;
  /** Options with one dash and several letters. */
  readonly words?: string;
  /** Names of commands that a rule must name itself: `docker *` does not cover `docker run`. */
  readonly commands?: string;
  /** Operands such as `SHELL=program` set variables of the program. */
  readonly hasVariables?: true;
  /** The number of operands that are only read. */
  readonly operands?: number;
}

/** Long options that write or run, whatever the program. */
const commonOptions = new Set(
  (
    "output output-file output-directory out-file outfile log-file exec exec-batch exec-path pre to-command upload-pack receive-pack " +
    "config config-env eval command rcfile init-file pager editor ext-diff textconv open-files-in-pager require import loader " +
    "experimental-loader preload plugin script-shell shell use-compress-program compress-program checkpoint-action rsh rsync-path " +
    "extcmd diff-program in-place inplace write fix node-options globalsetup setupfiles upload-file"
  ).split(" "),
);

const interpreters =
  "awk gawk mawk nawk sed perl python python2 python3 ruby php lua tclsh osascript ed ex vi vim nvim emacs less more man " +
  "npx bunx pnpx uvx pipx ssh psql mysql sqlite3 m4 dc gdb tmux screen";

/** Interpreters whose first operand is a file, and whose later ones belong to that program. */
const runsScript = new Set("perl python python2 python3 ruby php lua tclsh".split(" "));

const risks: Readonly<Record<string, Risk>> = {
  ...Object.fromEntries(
    interpreters.split(" ").map((name) => [name, { isInterpreter: true } as const]),
  ),
  bat: { options: "pager config-file" },
  bun: { letters: "erp", commands: "x exec create" },
  cargo: { letters: "ZC", options: "config", commands: "run r install script" },
  curl: {
    letters: "oOKTDcFdXJ",
    options:
      "output remote-name dump-header cookie-jar trace stderr libcurl hsts data form request next",
  },
  date: { letters: "s", options: "set" },
  deno: { commands: "run eval task install x repl" },
  diff: { options: "diff-program" },
  diff3: { options: "diff-program" },
  docker: { commands: "run exec build compose cp" },
  eslint: {
    letters: "oc",
    options: "format rulesdir resolve-plugins-relative-to parser fix-dry-run",
  },
  fd: { letters: "xX", options: "exec exec-batch" },
  fdfind: { letters: "xX", options: "exec exec-batch" },
  file: { letters: "Cm", options: "compile magic-file" },
  find: { words: "exec execdir ok okdir delete fprint fprint0 fprintf fls" },
  gh: { commands: "alias extension ext api" },
  git: {
    letters: "Ox",
    options:
      "output output-directory upload-pack receive-pack exec ext-diff textconv open-files-in-pager template config extcmd tool " +
      "index-filter tree-filter msg-filter env-filter parent-filter commit-filter tag-name-filter",
    commands:
      "config bisect submodule filter-branch difftool mergetool hook daemon send-email instaweb credential upload-pack " +
      "receive-pack shell maintenance",
  },
  go: {
    words: "exec toolexec o overlay modfile C ldflags gcflags vettool",
    commands: "run generate tool",
  },
  jobs: { letters: "x" },
  kubectl: { commands: "exec cp run debug plugin edit" },
  make: { letters: "fCI", options: "eval file makefile directory include-dir", hasVariables: true },
  node: {
    letters: "epr",
    options: "eval print require import loader experimental-loader env-file run",
  },
  npm: {
    letters: "C",
    options: "script-shell prefix node-options shell userconfig globalconfig git",
    commands: "exec x explore init create config edit",
  },
  pnpm: { letters: "C", options: "dir config script-shell", commands: "exec dlx create config" },
  prettier: { letters: "w", options: "write plugin config" },
  rg: { letters: "z", options: "pre hostname-bin search-zip" },
  rsync: { letters: "e", options: "rsh rsync-path" },
  scp: { letters: "SoF" },
  sdiff: { letters: "o", options: "output diff-program" },
  sftp: { letters: "SoFDb" },
  shuf: { letters: "o", options: "output" },
  sort: { letters: "oT", options: "output compress-program temporary-directory" },
  split: { options: "filter" },
  tar: {
    letters: "IFxcruA",
    options:
      "to-command checkpoint-action use-compress-program rsh-command info-script new-volume-script rmt-command extract get create " +
      "append update delete",
  },
  tree: { letters: "o" },
  uniq: { operands: 1 },
  uv: { commands: "run tool" },
  xxd: { letters: "r", operands: 1 },
  yarn: { commands: "exec dlx run config" },
  yq: { letters: "i", options: "inplace" },
  zip: { letters: "T", options: "unzip-command test" },
};

/**
 * Returns why an open rule does not cover a command, or undefined if it does. `fixed` is the number
 * of words at the beginning that the rule names.
 */
export function whyRisky(words: readonly string[], fixed: number): string | undefined {
  const program = programOf(words[0] ?? "");
  const risk = risks[program] ?? {};
  const extra = words.slice(fixed);
  const isScript = runsScript.has(program) && fixed > 1 && words[1]?.startsWith("-") === false;
  if (risk.isInterpreter === true && extra.length > 0 && !isScript)
    return `${program} can run what stands in its arguments`;
  if (program === "git" && fixed < 2 && extra[0]?.startsWith("-") === true)
    return `${extra[0]} before the name of git's command can run programs`;
  const command = fixed > 1 ? undefined : extra.find((word) => has(risk.commands, word));
  if (command !== undefined) return `${program} ${command} can run programs`;
  const option = extra.find((word) => isRisky(word, risk));
  if (option !== undefined) return `${option} can write files or run programs`;
  const variable = risk.hasVariables && extra.find((word) => word.includes("="));
  if (variable !== undefined) return `${variable} can run programs`;
  const evaluated = extra.find((word) => /\$\(|`/.test(word));
  if (evaluated !== undefined) return "an argument contains a command that bash builtins evaluate";
  const { operands = Infinity } = risk;
  if (words.slice(1).filter((word) => !word.startsWith("-")).length > operands)
    return `the second file of ${program} is written`;
  return undefined;
}

function has(names: string | undefined, word: string): boolean {
  return word !== "" && names?.split(" ").includes(word) === true;
}

function isRisky(word: string, { letters = "", options = "", words }: Risk): boolean {
  const [name = ""] = word.replace(/^-+/, "").split("=");
  if (word.startsWith("-") && has(words, name)) return true;
  if (word.startsWith("--"))
    return (
      name !== "" &&
      (commonOptions.has(name.toLowerCase()) ||
        options.split(" ").some((known) => known !== "" && known.startsWith(name)))
    );
  return /^-[^-]/.test(word) && Array.from(letters).some((letter) => word.includes(letter));
}

/** Returns true if a program runs or evaluates its arguments. */
export function isInterpreter(program: string): boolean {
  return risks[program]?.isInterpreter === true;
}
