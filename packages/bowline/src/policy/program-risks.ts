/**
 * What is known of programs: options that write files or run programs, by program. Data only;
 * `risky-options.ts` reads it.
 */

export interface Risk {
  /** The program runs or evaluates its arguments, so no open rule covers it. */
  readonly isInterpreter?: true;
  /** Letters of options with one dash, also in groups (`-ni`). */
  readonly letters?: string;
  /** Long options without their dashes, also abbreviated as GNU programs allow. */
  readonly options?: string;
  /** Options with one dash and several letters. */
  readonly words?: string;
  /** Commands that a rule must name itself: `docker *` does not cover `docker run`. */
  readonly commands?: string;
  /** The commands that a rule for the program alone covers. Any other one must be named. */
  readonly known?: string;
  /** One of these words makes a command read only. Without one it changes settings. */
  readonly reading?: string;
  /** The harmless options of a program that has too many others. */
  readonly harmless?: Harmless;
  /** Operands such as `SHELL=program` set variables of the program. */
  readonly hasVariables?: true;
  /** Operands such as `host:file` are on another machine. */
  readonly hasHosts?: true;
  /** The first word may be a group of letters without a dash (`tar tf`). */
  readonly hasBareLetters?: true;
  /** The number of operands that are only read. */
  readonly operands?: number;
}

interface Harmless {
  readonly letters: string;
  /** Letters whose value is the rest of the word, or the next word. */
  readonly valued: string;
  /** Long options. Those that end in "=" only with their value in the same word. */
  readonly names: string;
  /** Whether options after the first operand belong to another program. */
  readonly endsAtOperand?: true;
}

/** Long options that write or run, whatever the program. Compared without case, `-` and `_`. */
export const commonOptions: string =
  "output output-file output-directory output-path out out-file outfile out-dir log-file exec exec-batch exec-path pre to-command " +
  "upload-pack receive-pack config config-env eval command rcfile init-file pager editor viewer browser ext-diff textconv " +
  "open-files-in-pager require import loader experimental-loader preload plugin script-shell shell use-compress-program " +
  "compress-program checkpoint-action rsh rsync-path extcmd diff-program in-place inplace write fix node-options globalsetup " +
  "setupfiles upload-file wrapper use-askpass";

const interpreters =
  "awk gawk mawk nawk sed gsed perl python pypy ruby jruby php lua luajit tclsh wish osascript ed red ex vi view vim rvim rview vimdiff " +
  "gvim nvim nano pico emacs emacsclient editor less more most man pager sensible-editor sensible-pager lynx w3m npx bunx pnpx uvx " +
  "pipx tsx ts-node irb ipython jshell groovy scala erl elixir iex escript julia Rscript R octave guile racket clojure ghci gnuplot " +
  "ssh telnet ftp nc ncat netcat socat psql mysql sqlite mariadb m4 dc bc gdb lldb tmux screen valgrind perf hyperfine entr watchexec " +
  "nodemon chronic xvfb-run fakeroot faketime rlwrap cmake ninja tox nox rake just task";

/** Programs of which one command runs another program. */
const withRun = (
  "poetry pipenv pdm hatch rye pixi conda mamba bundle rbenv pyenv nvm asdf mise direnv nix rustup dotnet swift dart flutter stack " +
  "cabal lerna nx composer heroku vagrant rails podman docker-compose"
).split(" ");

/** Interpreters whose first operand is a file, and whose later ones belong to that program. */
export const runsScript: ReadonlySet<string> = new Set(
  "perl python pypy ruby php lua tclsh".split(" "),
);

const go =
  "exec toolexec o overlay modfile C c ldflags gcflags asmflags gccgoflags compiler pkgdir vettool cpuprofile memprofile blockprofile " +
  "mutexprofile trace coverprofile outputdir";
const compiler: Risk = { words: "wrapper specs fplugin B" };

export const risks: Readonly<Record<string, Risk>> = {
  ...Object.fromEntries(
    interpreters.split(" ").map((name) => [name, { isInterpreter: true } as const]),
  ),
  ...Object.fromEntries(
    withRun.map((name) => [name, { commands: "run exec shell x develop repl runner r tool" }]),
  ),
  apt: { letters: "oc", options: "option config-file" },
  "apt-cache": { letters: "oc", options: "option config-file" },
  "apt-get": { letters: "oc", options: "option config-file" },
  bat: { options: "pager config-file" },
  bun: {
    letters: "erp",
    known:
      "add audit help i info install link list outdated pm publish remove rm run test unlink update why",
  },
  "c++": compiler,
  cargo: {
    letters: "ZC",
    options: "config manifest-path target-dir artifact-dir lockfile-path",
    known:
      "add b bench build c check clean clippy d doc fetch fmt generate-lockfile help info locate-project login logout metadata " +
      "owner package pkgid publish read-manifest remove report rm search t test tree uninstall update vendor verify-project version yank",
  },
  cc: compiler,
  clang: compiler,
  "clang++": compiler,
  cpp: { ...compiler, operands: 1 },
  curl: {
    harmless: {
      letters: "0123456#SsfgGiIlLNvkqVMhZ",
      valued: "AHmeruxUyYz",
      names:
        "silent show-error location head include verbose fail fail-early fail-with-body get globoff insecure ipv4 ipv6 http1.0 http1.1 " +
        "http2 http3 tlsv1.2 tlsv1.3 compressed user-agent header max-time connect-timeout retry retry-delay retry-max-time " +
        "retry-all-errors retry-connrefused referer range user proxy proxy-user noproxy max-redirs resolve no-buffer " +
        "no-progress-meter progress-bar parallel cacert version help url limit-rate max-filesize path-as-is proto anyauth basic digest",
    },
  },
  date: { letters: "s", options: "set" },
  deno: {
    known:
      "add audit check clean completions coverage doc fmt help info lint outdated publish remove test types uninstall update",
  },
  diff: { options: "diff-program" },
  diff3: { options: "diff-program" },
  docker: { commands: "run exec build compose cp" },
  dpkg: { options: "pre-invoke post-invoke status-logger log root admindir instdir" },
  eslint: {
    letters: "ocf",
    options: "format rulesdir resolve-plugins-relative-to parser fix-dry-run cache-location",
  },
  fd: { letters: "xX", options: "exec exec-batch" },
  fdfind: { letters: "xX", options: "exec exec-batch" },
  file: { letters: "Cm", options: "compile magic-file" },
  find: { words: "exec execdir ok okdir delete fprint fprint0 fprintf fls" },
  "g++": compiler,
  gcc: compiler,
  gh: {
    commands: "alias extension ext api config codespace cs",
    known:
      "attestation cache completion gist help issue label org pr project release repo ruleset run search status variable workflow",
  },
  git: {
    letters: "Ox",
    options:
      "output output-directory upload-pack receive-pack exec ext-diff textconv open-files-in-pager template config extcmd tool " +
      "index-filter tree-filter msg-filter env-filter parent-filter commit-filter tag-name-filter separate-git-dir index-output " +
      "export-marks edit-description sendmail-cmd",
    known:
      "add am annotate apply archive blame branch cat-file check-attr check-ignore check-mailmap check-ref-format checkout " +
      "cherry cherry-pick clean clone commit commit-tree count-objects describe diff diff-files diff-index diff-tree fetch " +
      "for-each-ref format-patch fsck gc grep help init log ls-files ls-remote ls-tree merge merge-base mv name-rev notes prune pull " +
      "push range-diff rebase reflog remote repack reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref " +
      "sparse-checkout stage stash status switch tag var verify-commit verify-tag version whatchanged worktree write-tree",
  },
  "git archive": { letters: "o" },
  "git bisect": { commands: "run" },
  "git clone": { letters: "cu" },
  "git config": {
    reading:
      "--get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool --list -l get list",
  },
  "git format-patch": { letters: "o" },
  "git remote": { commands: "add rename rm remove set-head set-branches set-url prune update" },
  "git submodule": { commands: "foreach" },
  go: {
    words: go,
    known: "build clean doc env fmt get help install list mod test version vet work",
  },
  "go env": { words: "w u" },
  gofmt: { letters: "w", words: "w cpuprofile" },
  history: { letters: "anrwcdps" },
  iconv: { letters: "o", options: "output" },
  jest: {
    letters: "c",
    options:
      "reporters transform resolver testRunner testEnvironment coverageDirectory rootDir globalTeardown setupFilesAfterEnv " +
      "cacheDirectory outputFile",
  },
  jobs: { letters: "x" },
  kubectl: { commands: "exec cp run debug plugin edit" },
  make: { letters: "fCI", options: "eval file makefile directory include-dir", hasVariables: true },
  mocha: { letters: "rR", options: "require reporter ui loader file config package" },
  node: {
    letters: "epr",
    options: "eval print require import loader experimental-loader env-file run",
    harmless: {
      letters: "cvh",
      valued: "",
      names:
        "check version help test test-only test-name-pattern= test-concurrency= test-timeout= test-shard= test-force-exit no-warnings " +
        "trace-warnings trace-deprecation trace-uncaught throw-deprecation no-deprecation pending-deprecation enable-source-maps " +
        "experimental-strip-types experimental-transform-types experimental-test-coverage unhandled-rejections= conditions= input-type= " +
        "max-old-space-size= stack-trace-limit= preserve-symlinks",
      endsAtOperand: true,
    },
  },
  npm: {
    letters: "C",
    options:
      "script-shell prefix node-options shell userconfig globalconfig git cache logs-dir pack-destination init-module",
    known:
      "access add audit bugs cache ci completion dedupe deprecate diff dist-tag docs doctor explain find-dupes fund help help-search i " +
      "info install install-ci-test install-test link ll login logout ls list ln org outdated owner pack ping prefix profile prune " +
      "publish query rebuild remove repo restart rm root run run-script sbom search show shrinkwrap star stars start stop t team test " +
      "token tst un uninstall unlink unpublish unstar up update upgrade version view whoami why",
  },
  openssl: { words: "out keyout writerand engine config pass passin passout sigfile" },
  pnpm: {
    letters: "C",
    options: "dir config script-shell",
    known:
      "add audit ci dedupe fetch help i import info install install-test it licenses link list ll ln ls outdated pack prune publish " +
      "rb rebuild remove rm root run run-script show start stop t test tst un uninstall unlink up update upgrade version view why",
  },
  prettier: { letters: "w", options: "write plugin config" },
  printf: { letters: "v" },
  prove: { letters: "eI", options: "exec" },
  pytest: {
    letters: "pco",
    options: "junitxml basetemp rootdir confcutdir override-ini config-file",
  },
  rg: { letters: "z", options: "pre hostname-bin search-zip" },
  rsync: { letters: "eM", options: "rsh rsync-path remote-option" },
  scp: { letters: "SoF" },
  sdiff: { letters: "o", options: "output diff-program" },
  sftp: { letters: "SoFDb" },
  shuf: { letters: "o", options: "output" },
  sort: { letters: "oT", options: "output compress-program temporary-directory" },
  split: { options: "filter" },
  tar: {
    hasBareLetters: true,
    hasHosts: true,
    harmless: {
      letters: "tvzjJZaOpPSdWihnwk",
      valued: "fbCKNVHL",
      names:
        "list verbose file gzip gunzip ungzip bzip2 xz lzip lzma zstd auto-compress exclude directory strip-components " +
        "to-stdout numeric-owner full-time test-label diff compare totals block-number null wildcards no-wildcards " +
        "wildcards-match-slash ignore-case anchored occurrence utc version help usage force-local absolute-names ignore-zeros " +
        "show-transformed-names show-stored-names quoting-style warning",
    },
  },
  tree: { letters: "oR" },
  tsc: {
    letters: "pb",
    options: "outDir outFile project build declarationDir tsBuildInfoFile generateTrace init",
  },
  uniq: { operands: 1 },
  uv: {
    known:
      "add auth build cache export format help lock pip publish python remove sync tree venv version",
  },
  vitest: {
    letters: "cr",
    options: "root dir reporter environment outputFile globals pool mergeReports",
  },
  wait: { letters: "p" },
  wget: {
    harmless: {
      letters: "qvScN46",
      valued: "ntTUw",
      names:
        "quiet no-verbose verbose spider server-response tries timeout connect-timeout read-timeout user-agent header continue " +
        "timestamping max-redirect inet4-only inet6-only version help progress show-progress no-clobber waitretry no-check-certificate",
    },
  },
  xmllint: { words: "output o shell" },
  xxd: { letters: "r", operands: 1 },
  yarn: {
    known:
      "add audit autoclean bin cache check dedupe help import info install licenses link list login logout outdated owner pack publish " +
      "remove tag team test unlink unplug up upgrade version versions why",
  },
  yq: { letters: "is", options: "inplace split-exp split-exp-file" },
  zip: { letters: "T", options: "unzip-command test" },
};
