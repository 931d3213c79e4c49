/**
 * Drives programs in a real terminal: a tmux server of its own, on a private socket and with its
 * own configuration, that ends with the tests.
 */
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertGentle } from "./gentle.ts";

/** Why there is no tmux, or undefined. */
export const missingTmux: string | undefined =
  process.platform !== "win32" && spawnSync("tmux", ["-V"]).status === 0
    ? undefined
    : "needs tmux; install it by apt";

export interface WindowOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Default 100. */
  readonly columns?: number;
  /** Default 36. */
  readonly rows?: number;
}

export interface Tmux extends AsyncDisposable {
  open(options: WindowOptions): Promise<Window>;
}

export interface Window extends AsyncDisposable {
  /** Types characters; one read if `everyMs` is absent, else one key after another. */
  type(text: string, everyMs?: number): Promise<void>;
  /** Presses keys by tmux's names: "Enter", "Escape", "C-c", "M-Enter", "Up". */
  press(...keys: readonly string[]): Promise<void>;
  /** Pastes as a terminal does, bracketed if the program asked for that. */
  paste(text: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** Returns the visible rows, without spaces at their ends. */
  screen(): Promise<string>;
  /** Returns the scrollback and the visible rows; rows that the terminal wrapped are joined. */
  history(): Promise<string>;
  /** Returns the visible rows with their colours as escape sequences. */
  styled(): Promise<string>;
  /** Waits until the visible rows match, and returns them. */
  until(wanted: string | RegExp, ms?: number): Promise<string>;
  /** Waits until the visible rows no longer match, and returns them. */
  untilNot(unwanted: string | RegExp, ms?: number): Promise<string>;
  /** Waits until the scrollback and the visible rows match, and returns them. */
  untilHistory(wanted: string | RegExp, ms?: number): Promise<string>;
  /** Returns each byte that the program wrote. */
  bytes(): Promise<string>;
  /** Returns the exit status of the command when it has ended, or 128 plus the number of its signal. */
  exit(ms?: number): Promise<number>;
  /** Returns the process id of the command. */
  pid(): Promise<number>;
  /** Returns the row of the cursor, from 0, and whether it is visible. */
  cursor(): Promise<{ readonly row: number; readonly column: number; readonly isVisible: boolean }>;
}

export const LIMIT_MS = 60_000;
const POLL_MS = 15;
/** Keys that come within 20 ms count as pasted, which a fast machine's tests would be. */
const BETWEEN_KEYS_MS = 40;

const config = `
set -g default-terminal tmux-256color
set -g history-limit 60000
set -g status off
set -g exit-empty off
set -g escape-time 0
set -g remain-on-exit on
set -g remain-on-exit-format ""
set -g extended-keys off
`;

export async function openTmux(): Promise<Tmux> {
  const folder = await mkdtemp(join(tmpdir(), "bowline-tmux-"));
  const socket = join(folder, "socket");
  const configFile = join(folder, "tmux.conf");
  await writeFile(configFile, config);
  const run = (...args: string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      execFile(
        "tmux",
        ["-S", socket, "-f", configFile, ...args],
        {
          env: { PATH: process.env.PATH ?? "", LC_ALL: "C.UTF-8" },
          maxBuffer: 64 * 1024 * 1024,
        },
        (error, stdout, stderr) => {
          if (error === null) resolve(stdout);
          else reject(new Error(`tmux ${args[0]}: ${stderr.trim() || error.message}`));
        },
      );
    });
  let opened = 0;
  return {
    open: (options) => openWindow(run, socket, join(folder, `bytes-${++opened}`), options),
    async [Symbol.asyncDispose]() {
      await run("kill-server").catch(() => {});
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Run = (...args: string[]) => Promise<string>;

async function openWindow(
  run: Run,
  socket: string,
  record: string,
  { command, cwd, env = {}, columns = 100, rows = 36 }: WindowOptions,
): Promise<Window> {
  const name = record.slice(record.lastIndexOf("-") + 1);
  const size = ["-x", String(columns), "-y", String(rows)];
  const variables = Object.entries(env).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
  // tmux sets TERM itself.
  const words = env.TERM === undefined ? command : ["env", `TERM=${env.TERM}`, ...command];
  const session = ["new-session", "-d", "-s", `w${name}`, "-c", cwd, ...size, ...variables];
  await run(...session, "sh", "-c", gate, socket, `ready-${name}`, record, ...words);
  const target = `w${name}:0.0`;
  await writeFile(record, "");
  await run("pipe-pane", "-t", target, "-O", `exec cat >> '${record}'`);
  await run("wait-for", "-S", `ready-${name}`);
  return new TmuxWindow(run, target, record);
}

/**
 * The command waits until its output is recorded. Its exit status is stored in a file, because tmux
 * now and then loses it.
 */
const gate = `
tmux -S "$0" wait-for "$1"
record=$2
shift 2
unset TMUX TMUX_PANE
trap : INT QUIT
sh -c 'echo $$ >"$0-pid"; exec "$@"' "$record" "$@"
echo $? >"$record-exit"
`;

class TmuxWindow implements Window {
  readonly #run: Run;
  readonly #target: string;
  readonly #record: string;
  #pastes = 0;

  constructor(run: Run, target: string, record: string) {
    this.#run = run;
    this.#target = target;
    this.#record = record;
  }

  async type(text: string, everyMs?: number): Promise<void> {
    const pieces = everyMs === undefined ? [text] : Array.from(text);
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await sleep(everyMs ?? 0);
      // tmux reads a final ";" as the end of its command.
      await this.#run("send-keys", "-t", this.#target, "-l", "--", piece.replace(/;$/, "\\;"));
    }
  }

  async press(...keys: readonly string[]): Promise<void> {
    await sleep(BETWEEN_KEYS_MS);
    await this.#run("send-keys", "-t", this.#target, ...keys);
  }

  async paste(text: string): Promise<void> {
    const file = `${this.#record}-paste-${++this.#pastes}`;
    await writeFile(file, text);
    await this.#run("load-buffer", "-b", "paste", file);
    await this.#run("paste-buffer", "-d", "-p", "-b", "paste", "-t", this.#target);
  }

  async resize(columns: number, rows: number): Promise<void> {
    const size = ["-x", String(columns), "-y", String(rows)];
    await this.#run("resize-window", "-t", this.#target, ...size);
  }

  async screen(): Promise<string> {
    return trimmed(await this.#run("capture-pane", "-p", "-t", this.#target));
  }

  async history(): Promise<string> {
    return trimmed(await this.#run("capture-pane", "-p", "-J", "-S", "-", "-t", this.#target));
  }

  styled(): Promise<string> {
    return this.#run("capture-pane", "-p", "-e", "-t", this.#target);
  }

  until(wanted: string | RegExp, ms?: number): Promise<string> {
    return this.#await(wanted, true, () => this.screen(), ms);
  }

  untilNot(unwanted: string | RegExp, ms?: number): Promise<string> {
    return this.#await(unwanted, false, () => this.screen(), ms);
  }

  untilHistory(wanted: string | RegExp, ms?: number): Promise<string> {
    return this.#await(wanted, true, () => this.history(), ms);
  }

  /** Looks again when the program has written something, and now and then without. */
  async #await(
    pattern: string | RegExp,
    isWanted: boolean,
    look: () => Promise<string>,
    ms = LIMIT_MS,
  ): Promise<string> {
    const deadline = performance.now() + ms;
    let seen = -1;
    for (let round = 0; ; round += 1) {
      const { size } = await stat(this.#record);
      if (size !== seen || round % 10 === 0) {
        seen = size;
        const shown = await look();
        const has = typeof pattern === "string" ? shown.includes(pattern) : pattern.test(shown);
        if (has === isWanted) return shown;
        if (performance.now() > deadline) throw new Error(unmet(pattern, isWanted, ms, shown));
      }
      await sleep(POLL_MS);
    }
  }

  bytes(): Promise<string> {
    return readFile(this.#record, "utf8");
  }

  async exit(ms = LIMIT_MS): Promise<number> {
    return Number(await this.#stored("exit", ms));
  }

  async pid(): Promise<number> {
    return Number(await this.#stored("pid", LIMIT_MS));
  }

  async #stored(name: string, ms: number): Promise<string> {
    const deadline = performance.now() + ms;
    for (;;) {
      const stored = await readFile(`${this.#record}-${name}`, "utf8").catch(() => "");
      if (stored.endsWith("\n")) return stored.trim();
      if (performance.now() > deadline)
        throw new Error(`No ${name} of the command within ${ms} ms:\n${await this.screen()}`);
      await sleep(POLL_MS);
    }
  }

  async cursor(): Promise<{ row: number; column: number; isVisible: boolean }> {
    const format = "#{cursor_y} #{cursor_x} #{cursor_flag}";
    const shown = await this.#run("display-message", "-p", "-t", this.#target, format);
    const [row, column, flag] = shown.trimEnd().split(" ");
    return { row: Number(row), column: Number(column), isVisible: flag === "1" };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#run("kill-session", "-t", this.#target).catch(() => {});
    assertGentle(await this.bytes());
  }
}

function unmet(pattern: string | RegExp, isWanted: boolean, ms: number, shown: string): string {
  const rule = "-".repeat(20);
  return `${isWanted ? "No" : "Still"} ${String(pattern)} after ${ms} ms on this screen:\n${rule}\n${shown}\n${rule}`;
}

function trimmed(shown: string): string {
  return shown.replaceAll(/[ \t]+$/gm, "").replace(/\n+$/, "");
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
