/**
 * Kills agents at random moments and resumes them until each task is done. Checks after every kill
 * that acknowledged entries exist, that earlier entries are unchanged, that every effect has its
 * intent, and that no unrepeatable tool ran again.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentMessage } from "../../src/agent/index.ts";
import { openSession, type Entry } from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { bundle } from "../../../../test/support/bundle.ts";
import { assertAccepted, user } from "../agent/context/rig.ts";
import { startModelServer, TURNS } from "./model-server.ts";

export interface KillOptions {
  readonly kills: number;
  /** The number of concurrent children. Default 6: they mostly wait for the disk and the model. */
  readonly lanes?: number;
  /** Default: child.ts in this folder. */
  readonly child?: string;
  readonly onProgress?: (report: KillReport) => void;
}

export interface KillReport {
  kills: number;
  /** Finished tasks. */
  tasks: number;
  /** Executions of tools, and how many of them were repeated safely. */
  executions: number;
  again: number;
  /** Calls reported to the model as unknown. */
  unknown: number;
  /** Messages that steered a run, and how many of them another process found in the log. */
  steered: number;
  foundWaiting: number;
  /** Files with a torn end. */
  torn: number;
  requests: number;
  summaries: number;
  /** All problems; the first one stops the test. */
  problems: string[];
}

/** A task takes a second on an idle machine. */
const LONGEST_LIFE_MS = 60_000;

export async function killRuns({
  kills,
  lanes = 6,
  onProgress,
  ...options
}: KillOptions): Promise<KillReport> {
  const { child: source = join(import.meta.dirname, "child.ts") } = options;
  const folder = await mkdtemp(join(tmpdir(), "bowline-crash-"));
  const programs = await mkdtemp(join(tmpdir(), "bowline-crash-program-"));
  const child = join(programs, "child.js");
  const env = { ...process.env, NODE_COMPILE_CACHE: join(programs, "cache") };
  const report: KillReport = {
    kills: 0,
    tasks: 0,
    executions: 0,
    again: 0,
    unknown: 0,
    steered: 0,
    foundWaiting: 0,
    torn: 0,
    requests: 0,
    summaries: 0,
    problems: [],
  };
  let planned = 0;
  let tasks = 0;
  await using server = await startModelServer();
  try {
    await writeFile(join(programs, "package.json"), '{ "type": "module" }');
    await bundle({ programs: { child: source }, folder: programs });
    // Compiled once, because a killed child writes no compile cache.
    await once(spawn(process.execPath, [child], { env, stdio: "ignore" }), "close");
    const lane = async (): Promise<void> => {
      while (planned < kills && report.problems.length === 0) await oneTask(`task${tasks++}`);
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  } catch (error) {
    report.problems.push(String(error));
  } finally {
    await rm(folder, { recursive: true, force: true });
    await rm(programs, { recursive: true, force: true });
  }
  report.problems.push(...server.problems);
  return { ...report, ...server.counts };

  async function oneTask(id: string): Promise<void> {
    const task = new Task(folder, id, report);
    for (let isDone = false; !isDone && report.problems.length === 0;) {
      const isKilled = planned < kills;
      if (isKilled) planned++;
      const { ended, wasKilled } = await live(id, isKilled, task);
      if (wasKilled) report.kills++;
      else if (isKilled) planned--;
      await task.check();
      isDone = !wasKilled;
      if (isDone) await task.checkEnd(ended);
      onProgress?.(report);
    }
  }

  /** Runs one process from its start until it is killed or done. */
  async function live(
    id: string,
    isKilled: boolean,
    task: Task,
  ): Promise<{ ended: string; wasKilled: boolean }> {
    const life = spawn(process.execPath, [child, folder, id, server.baseUrl], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    let complaint = "";
    const lines = (): string[] => said.split("\n").slice(0, -1); // the last line may be cut by the kill
    life.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
    life.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
    const closed = once(life, "close");
    const limit = setTimeout(() => {
      report.problems.push(`${id}: the child hangs`);
      life.kill("SIGKILL");
    }, LONGEST_LIFE_MS);
    if (isKilled) {
      // Mostly while it works, on machines of any speed, and sometimes while it starts.
      const least = Math.random() < 0.9 ? Math.random() * 16 : 0;
      while (lines().length < least && life.exitCode === null && life.signalCode === null)
        await Promise.race([once(life.stdout, "data"), closed]);
      await Promise.race([sleep(Math.random() * (least === 0 ? 150 : 20)), closed]);
      life.kill("SIGKILL");
    }
    const [code, signal] = (await closed) as [number | null, string | null];
    clearTimeout(limit);
    for (const line of lines()) {
      const { acknowledged = [], queued } = JSON.parse(line) as {
        acknowledged?: string[];
        queued?: string;
      };
      for (const entry of acknowledged) task.acknowledged.add(entry);
      if (queued !== undefined) task.queued.add(queued);
    }
    if (signal === null && code !== 0)
      report.problems.push(`${id}: the child failed: ${complaint}`);
    return { ended: lines().at(-1) ?? "", wasKilled: signal === "SIGKILL" };
  }
}

/** The known state of one task between kills. */
class Task {
  readonly acknowledged = new Set<string>();
  /** Messages reported as written to the log. */
  readonly queued = new Set<string>();
  readonly #folder: string;
  readonly #id: string;
  readonly #report: KillReport;
  #entries: Entry[] = [];
  /** How often each call had run at the last check. */
  #ran = new Map<string, number>();

  constructor(folder: string, id: string, report: KillReport) {
    this.#folder = folder;
    this.#id = id;
    this.#report = report;
  }

  async check(): Promise<void> {
    const store = createJsonlStore(this.#folder);
    if (!existsSync(join(this.#folder, `${this.#id}.jsonl`))) {
      this.#must(this.acknowledged.size === 0 && this.#entries.length === 0, "the file is gone");
      return;
    }
    const session = await openSession(store, this.#id, { readOnly: true });
    this.#report.foundWaiting += (await session.state()).queued?.length ?? 0;
    const entries: Entry[] = [];
    for await (const entry of session.entries()) entries.push(entry as Entry);
    for (const { message } of session.damage) {
      this.#must(/^The end of .* (?:was|is) torn/.test(message), message);
      this.#report.torn++;
    }
    const there = new Set(entries.map(({ id }) => id));
    for (const id of this.acknowledged)
      this.#must(there.has(id), `the entry ${id} was acknowledged and is lost`);
    const before = JSON.stringify(this.#entries);
    this.#must(
      JSON.stringify(entries.slice(0, this.#entries.length)) === before,
      "what was there has changed",
    );
    this.#checkEffects(entries);
    this.#entries = entries;
  }

  #checkEffects(entries: readonly Entry[]): void {
    const ran = this.#ledger();
    const intents = new Map(
      entries.flatMap((entry) =>
        entry.type === "tool_intent" ? [[entry.idempotencyKey, entry]] : [],
      ),
    );
    for (const [key, times] of ran) {
      const intent = intents.get(key);
      this.#must(intent !== undefined, `${key} has an effect and no intent`);
      this.#must(times === 1 || intent?.replay === "safe", `${key} ran ${times} times`);
    }
    for (const entry of this.#entries) {
      if (entry.type !== "tool_result") continue;
      const { idempotencyKey: key } = entry;
      this.#must(
        ran.get(key) === this.#ran.get(key),
        `${key} ran again, and its result was recorded`,
      );
    }
    for (const entry of entries) {
      if (entry.type === "tool_result")
        this.#must(
          ran.has(entry.idempotencyKey),
          `${entry.idempotencyKey} has a result and no effect`,
        );
    }
    this.#ran = ran;
  }

  #ledger(): Map<string, number> {
    const path = join(this.#folder, `${this.#id}.ledger`);
    const ran = new Map<string, number>();
    if (!existsSync(path)) return ran;
    for (const key of readFileSync(path, "utf8").split("\n").slice(0, -1))
      ran.set(key, (ran.get(key) ?? 0) + 1);
    return ran;
  }

  /** Checks the finished task. */
  async checkEnd(ended: string): Promise<void> {
    this.#must(ended === '{"ended":"done"}', `it ended otherwise: ${ended}`);
    const session = await openSession(createJsonlStore(this.#folder), this.#id, { readOnly: true });
    const { run } = await session.state();
    this.#must(run?.reason === "done", `the run is ${run?.reason ?? "open"}`);
    this.#must(run?.turns === TURNS + 1, `${run?.turns} turns`);
    const all = (await session.allMessages()) as AgentMessage[];
    const next = user("And then?");
    for (const messages of [all, (await session.contextMessages()) as AgentMessage[]]) {
      try {
        assertAccepted([...messages, next]);
      } catch (error) {
        this.#must(false, `the transcript is not accepted: ${String(error)}`);
      }
    }
    const told = new Set(
      all.flatMap((message) =>
        message.role === "toolResult" ? unknownKey(JSON.stringify(message)) : [],
      ),
    );
    for (const [key, { intent, result }] of run?.calls ?? []) {
      const isInDoubt = result === undefined;
      this.#must(
        told.has(key) === isInDoubt,
        `${intent.toolName} ${key}: in doubt ${isInDoubt}, told ${told.has(key)}`,
      );
    }
    const notes = all.flatMap((message) => noteIn(message));
    for (const note of new Set([...this.queued, ...notes])) {
      const times = notes.filter((other) => other === note).length;
      this.#must(times === 1, `the queued message ${note} is ${times} times in the transcript`);
    }
    const ran = [...this.#ran.values()];
    this.#report.steered += notes.length;
    this.#report.tasks++;
    this.#report.unknown += told.size;
    this.#report.executions += ran.reduce((sum, times) => sum + times, 0);
    this.#report.again += ran.reduce((sum, times) => sum + times - 1, 0);
  }

  #must(holds: boolean, problem: string): void {
    if (!holds) this.#report.problems.push(`${this.#id}: ${problem}`);
  }
}

function noteIn({ role, ...message }: AgentMessage): string[] {
  const text = role === "user" && "content" in message ? message.content : "";
  return (
    /^Note t\d+ of Task \w+: ([\w-]+)$/.exec(typeof text === "string" ? text : "")?.slice(1) ?? []
  );
}

function unknownKey(text: string): string[] {
  return /The process ended while .* Its idempotency key is ([^"]+)\./.exec(text)?.slice(1) ?? [];
}
