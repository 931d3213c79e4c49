/** Tries the mutants of all wires on several threads. */
import { Worker } from "node:worker_threads";
import type { Wire } from "./acceptors/accept.ts";
import type { Finding } from "./finding.ts";
import type { Answer, Task } from "./messages.ts";

export interface SearchOptions {
  readonly wires: readonly Wire[];
  readonly seed: number;
  /** The number of generated streams, and the least number of distinct mutants, for each wire. */
  readonly generated: number;
  readonly mutants: number;
  readonly workers: number;
  readonly onProgress: (done: number, findings: number) => void;
}

export interface WireResult {
  readonly wire: Wire;
  streams: number;
  mutants: number;
  readonly hashes: Set<string>;
  readonly verdicts: Map<string, number>;
  readonly findings: Finding[];
}

/** Makes a few more than requested, since two streams may share mutants. */
const SPARE = 1.08;

export async function search(options: SearchOptions): Promise<WireResult[]> {
  const run = new Search(options);
  const threads = Array.from({ length: options.workers }, startWorker);
  try {
    await Promise.all(threads.map((thread) => run.work(thread)));
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
  return [...run.results.values()];
}

class Search {
  readonly results: Map<Wire, WireResult>;
  readonly #options: SearchOptions;
  readonly #tasks: Task[];
  /** Unfinished tasks, including those that a wire's streams have added. */
  #pending: number;
  #waiting: (() => void)[] = [];
  #done = 0;
  #findings = 0;

  constructor(options: SearchOptions) {
    const { wires, seed, generated: count } = options;
    this.#options = options;
    this.results = new Map(wires.map((wire) => [wire, emptyResult(wire)]));
    this.#tasks = wires.map((wire) => ({ kind: "bases", wire, seed, count }));
    this.#pending = this.#tasks.length;
  }

  /** Gives a thread one task after the other until there are none left. */
  async work(thread: Worker): Promise<void> {
    for (let task = await this.#next(); task !== undefined; task = await this.#next()) {
      this.#take(await perform(thread, task));
      this.#pending--;
      for (const wake of this.#waiting.splice(0)) wake();
    }
  }

  async #next(): Promise<Task | undefined> {
    while (this.#tasks.length === 0 && this.#pending > 0)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.#tasks.shift();
  }

  #take(answer: Answer): void {
    const { mutants, seed, onProgress } = this.#options;
    const result = this.results.get(answer.wire) ?? emptyResult(answer.wire);
    if (answer.kind === "bases") {
      const { bases } = answer;
      const count = Math.ceil((mutants * SPARE) / bases.length);
      result.streams = bases.length;
      for (const base of bases) this.#tasks.push({ kind: "mutants", base, seed, count });
      this.#pending += bases.length;
      return;
    }
    addResult(result, answer.result);
    this.#done += answer.result.hashes.length;
    this.#findings += answer.result.findings.length;
    onProgress(this.#done, this.#findings);
  }
}

function startWorker(): Worker {
  return new Worker(new URL("worker.ts", import.meta.url));
}

function perform(worker: Worker, task: Task): Promise<Answer> {
  return new Promise((resolve, reject) => {
    worker.removeAllListeners("message");
    worker.removeAllListeners("error");
    worker.once("message", resolve).once("error", reject);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage(task);
  });
}

function emptyResult(wire: Wire): WireResult {
  return {
    wire,
    streams: 0,
    mutants: 0,
    hashes: new Set(),
    verdicts: new Map(),
    findings: [],
  };
}

function addResult(
  result: WireResult,
  { hashes, verdicts, findings }: Extract<Answer, { kind: "mutants" }>["result"],
): void {
  result.mutants += hashes.length;
  for (const hash of hashes) result.hashes.add(hash);
  for (const [verdict, count] of Object.entries(verdicts))
    result.verdicts.set(verdict, (result.verdicts.get(verdict) ?? 0) + count);
  result.findings.push(...findings);
}
