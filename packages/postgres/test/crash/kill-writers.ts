/** Kills processes that write to a session, and checks what they acknowledged. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { compileCache } from "../../../../test/support/compile-cache.ts";
import type { PostgresStore } from "../../src/index.ts";
import { readAll } from "../support.ts";

export interface Writer {
  readonly process: ChildProcess;
  /** The lines that it wrote so far. */
  readonly lines: readonly string[];
  /** Resolves when there are so many lines, or when it has ended. */
  reaches(count: number): Promise<void>;
}

export function startWriter(url: string, prefix: string, session: string): Writer {
  return startChild("writer-child.ts", [url, prefix, session]);
}

/** Starts a process that writes lines. */
export function startChild(file: string, args: readonly string[]): Writer {
  const options = ["--conditions=@bowline/source", "--disable-warning=ExperimentalWarning"];
  const child = [...options, join(import.meta.dirname, file), ...args];
  const started = spawn(process.execPath, child, {
    env: { ...process.env, ...compileCache },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  let wake = (): void => {};
  createInterface({ input: started.stdout }).on("line", (line) => {
    lines.push(line);
    wake();
  });
  const end = { isReached: false };
  started.on("exit", () => {
    end.isReached = true;
    wake();
  });
  return {
    process: started,
    lines,
    async reaches(count) {
      while (lines.length < count && !end.isReached)
        await new Promise<void>((resolve) => (wake = resolve));
    },
  };
}

export interface KillReport {
  readonly kills: number;
  readonly acknowledged: number;
  readonly problems: readonly string[];
}

export interface KillOptions {
  readonly kills: number;
  /** Id of the session, which is created. */
  readonly session: string;
  readonly onProgress?: (report: KillReport) => void;
}

/** Kills `kills` processes, each after a random number of acknowledged appends. */
export async function killWriters(
  store: PostgresStore,
  url: string,
  { kills, session, onProgress = () => {} }: KillOptions,
): Promise<KillReport> {
  await (await store.create({ id: session, createdAt: 1 })).close();
  const problems: string[] = [];
  let acknowledged = 0;
  let done = 0;
  let from = 0;
  // The next process starts while this one writes, since starting takes most of the time.
  let next = startWriter(url, "0", session);
  for (let kill = 0; kill < kills; kill++) {
    const writer = next;
    await writer.reaches(1 + Math.floor(Math.random() * 30));
    if (kill + 1 < kills) next = startWriter(url, String(kill + 1), session);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
    writer.process.kill("SIGKILL");
    await once(writer.process, "close");
    const stored = await readAll(store, session, { from });
    const { found, count } = check(writer.lines, stored, from, kill);
    problems.push(...found);
    from += count;
    acknowledged += writer.lines.length;
    onProgress({ kills: ++done, acknowledged, problems });
    if (problems.length > 0) {
      next.process.kill("SIGKILL");
      break;
    }
  }
  return { kills: done, acknowledged, problems };
}

interface Stored {
  readonly seq: number;
  readonly id: string;
}

/**
 * Checks the entries of a killed process, which begin at `from`. `count` is the number of entries up
 * to its last one. The last append of a killed process may be stored without its acknowledgement,
 * also after the process is gone, but not after an entry of the next process.
 */
function check(
  lines: readonly string[],
  stored: readonly Stored[],
  from: number,
  kill: number,
): { readonly found: string[]; readonly count: number } {
  const found: string[] = [];
  for (const [index, { seq, id }] of stored.entries())
    if (seq !== from + index) found.push(`${id} has seq ${seq}, not ${from + index}`);
  const late = stored[0]?.id.startsWith(`${kill - 1}-`) === true ? 1 : 0;
  const own = stored.filter(({ id }) => id.startsWith(`${kill}-`)).map(({ id }) => id);
  for (const [index, id] of own.entries())
    if (stored[late + index]?.id !== id || id !== `${kill}-${index}`)
      found.push(`${id} is not at its place`);
  for (const id of lines) if (!own.includes(id)) found.push(`${id} was acknowledged and is lost`);
  if (own.length > lines.length + 1)
    found.push(`${own.length - lines.length} entries of process ${kill} were not acknowledged`);
  return { found, count: late + own.length };
}
