/** Kills processes that write to a session, and checks what they acknowledged. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { PostgresStore } from "../../src/index.ts";
import { readAll } from "../support.ts";

const child = join(import.meta.dirname, "writer-child.ts");

export interface Writer {
  readonly process: ChildProcess;
  /** The lines that it wrote so far. */
  readonly lines: readonly string[];
  /** Resolves when there are so many lines, or when it has ended. */
  reaches(count: number): Promise<void>;
}

export function startWriter(url: string, prefix: string): Writer {
  const args = [
    "--conditions=@bowline/source",
    "--disable-warning=ExperimentalWarning",
    child,
    url,
    prefix,
  ];
  const process_ = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  let wake = (): void => {};
  createInterface({ input: process_.stdout }).on("line", (line) => {
    lines.push(line);
    wake();
  });
  let hasEnded = false;
  process_.on("exit", () => {
    hasEnded = true;
    wake();
  });
  return {
    process: process_,
    lines,
    async reaches(count) {
      while (lines.length < count && !hasEnded)
        await new Promise<void>((resolve) => (wake = resolve));
    },
  };
}

export interface KillReport {
  readonly kills: number;
  readonly acknowledged: number;
  readonly problems: readonly string[];
}

/** Kills `kills` processes, each after a random number of acknowledged appends. */
export async function killWriters(
  store: PostgresStore,
  url: string,
  kills: number,
  onProgress: (report: KillReport) => void = () => {},
): Promise<KillReport> {
  await (await store.create({ id: "s", createdAt: 1 })).close();
  const problems: string[] = [];
  let acknowledged = 0;
  let from = 0;
  // The next process starts while this one writes, since starting takes most of the time.
  let next = startWriter(url, "0");
  for (let kill = 0; kill < kills; kill++) {
    const writer = next;
    await writer.reaches(1 + Math.floor(Math.random() * 30));
    if (kill + 1 < kills) next = startWriter(url, String(kill + 1));
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
    writer.process.kill("SIGKILL");
    await once(writer.process, "close");
    const stored = await readAll(store, "s", { from });
    problems.push(...check(writer.lines, stored, from, `${kill}-`));
    from += stored.length;
    acknowledged += writer.lines.length;
    onProgress({ kills: kill + 1, acknowledged, problems });
    if (problems.length > 0) {
      next.process.kill("SIGKILL");
      break;
    }
  }
  return { kills, acknowledged, problems };
}

/** The entries of the killed process begin at `from`. One that was not acknowledged may be stored. */
function check(
  lines: readonly string[],
  stored: readonly { readonly seq: number; readonly id: string }[],
  from: number,
  prefix: string,
): string[] {
  const own = stored.filter(({ id }) => id.startsWith(prefix)).map(({ id }) => id);
  const lost = lines.filter((id) => !own.includes(id));
  const problems = lost.map((id) => `${id} was acknowledged and is lost`);
  if (new Set(own).size < own.length) problems.push(`an entry of ${prefix} is stored twice`);
  if (own.length > lines.length + 1)
    problems.push(`${own.length - lines.length} entries of ${prefix} were not acknowledged`);
  for (const [index, { seq, id }] of stored.entries()) {
    if (seq !== from + index) problems.push(`${id} has seq ${seq}, not ${from + index}`);
  }
  const others = stored.length - own.length;
  // The next process may have begun between the kill and the reading.
  if (stored.slice(0, own.length).some(({ id }) => !id.startsWith(prefix)) && others > 0)
    problems.push(`entries of two processes are mixed after ${from}`);
  return problems;
}
