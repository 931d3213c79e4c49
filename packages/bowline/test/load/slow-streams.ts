/**
 * Slow readers of server-sent events, and one client that reads at once and tells them about each
 * run.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { keyOf, LoadClient, type LoadOptions } from "./load-client.ts";
import { StreamReader } from "./stream-reader.ts";
import type { Counts } from "./watched-run.ts";

export interface SlowStreams {
  readonly counts: Counts;
  /** How often they left a run, and how often the server cut them off. */
  readonly left: number;
  readonly cutOff: number;
}

export class SlowStreamReaders {
  readonly #options: LoadOptions;
  readonly #mayLeave: boolean;
  readonly #readers: readonly { readonly sessionKey: string; readonly reader: StreamReader }[];
  #scout: LoadClient | undefined;

  /** `mayLeave`: the server lets a reader resume a run. */
  constructor(options: LoadOptions, mayLeave: boolean) {
    const { slowStreams, wideRuns } = options.shape;
    this.#options = options;
    this.#mayLeave = mayLeave;
    this.#readers = Array.from({ length: slowStreams }, (_, index) => ({
      sessionKey: keyOf(index % wideRuns),
      reader: new StreamReader({ ...options, isSlow: true }),
    }));
  }

  async connect(): Promise<void> {
    const nobody: Counts = { frames: 0, deltas: 0, joined: 0, snapshots: 0, ended: 0 };
    const scout = await LoadClient.enter({ ...this.#options, counts: nobody });
    this.#scout = scout;
    for (const sessionKey of new Set(this.#readers.map((one) => one.sessionKey)))
      await scout.request("chat.subscribe", { sessionKey });
    scout.onBegin = (sessionKey, runId) => {
      for (const one of this.#readers)
        if (one.sessionKey === sessionKey) one.reader.read(sessionKey, runId);
    };
  }

  play(deadline: number): void {
    const { length } = this.#readers;
    for (const [index, { reader }] of this.#readers.entries())
      void (this.#mayLeave && index >= length / 2
        ? this.#comeAndGo(reader, deadline)
        : this.#dawdle(reader, deadline));
  }

  /** Waits until each has seen every run completely. */
  async finish(limit: number): Promise<SlowStreams> {
    const isBehind = (): boolean =>
      this.#scout?.isDone !== true || this.#readers.some(({ reader }) => !reader.isDone);
    while (performance.now() < limit && isBehind()) await sleep(20);
    const begun = [...(this.#scout?.sessions.values() ?? [])];
    for (const { sessionKey, reader } of this.#readers) {
      const runs = begun.filter((key) => key === sessionKey).length;
      if (reader.runs.size !== runs || !reader.isDone)
        this.#options.fault(
          `${sessionKey}: a slow reader over HTTP did not see all of ${runs} runs`,
        );
      reader.close();
    }
    this.#scout?.close();
    const sum = (pick: (reader: StreamReader) => number): number =>
      this.#readers.reduce((all, { reader }) => all + pick(reader), 0);
    return {
      counts: this.#options.counts,
      left: sum(({ left }) => left),
      cutOff: sum(({ cutOff }) => cutOff),
    };
  }

  async #dawdle(reader: StreamReader, deadline: number): Promise<void> {
    const { awayMs } = this.#options.shape;
    while (performance.now() < deadline) {
      reader.look(true);
      await sleep(awayMs);
      reader.look(false);
      await sleep(awayMs / 10);
    }
  }

  /** Reads for a while, pauses, and disconnects. */
  async #comeAndGo(reader: StreamReader, deadline: number): Promise<void> {
    const { awayMs } = this.#options.shape;
    while (performance.now() < deadline) {
      await sleep(awayMs / 2);
      reader.look(true);
      await sleep(awayMs / 4);
      reader.leave();
      reader.look(false);
    }
  }
}
