/**
 * A share of the clients, as a separate process: `clients.ts <{url, token, shape, part, parts}>`.
 * The slow clients are one share, because their late reading must not delay the clients that are
 * timed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { answerParent } from "../gateway/forked.ts";
import { startMeter } from "../gateway/meter.ts";
import { isWide, keyOf, LoadClient, type LoadOptions } from "./load-client.ts";
import type { Shape } from "./shape.ts";
import { SlowStreamReaders, type SlowStreams } from "./slow-streams.ts";
import { StreamReader } from "./stream-reader.ts";
import type { Counts } from "./watched-run.ts";

export interface ClientsOptions {
  readonly url: string;
  readonly token: string;
  readonly shape: Shape;
  /** Index of the share, from 0. The slow readers have index `parts`. */
  readonly part: number;
  readonly parts: number;
  /** Whether a client that was cut off reconnects for the rest. */
  readonly comesBack: boolean;
}

export interface ClientsReport {
  readonly counts: Counts;
  /** Counts of the readers of server-sent events and of the slow readers alone. */
  readonly streams: Counts;
  readonly slow: Counts;
  /** Figures of the slow readers of server-sent events. */
  readonly slowStreams: SlowStreams;
  /** Slow readers that the server cut off, and those that reconnected. */
  readonly cutOff: number;
  readonly back: number;
  readonly faults: readonly string[];
  /**
   * Delays of short deltas to clients that read at once: tenths of a millisecond, and how many
   * deltas.
   */
  readonly late: Late;
  /** The same for readers of server-sent events. */
  readonly lateStreams: Late;
}

export type Late = readonly (readonly [tenths: number, count: number])[];

const [options] = process.argv.slice(2);
if (options !== undefined) play(JSON.parse(options) as ClientsOptions);

function play({ url, token, shape, part, parts, comesBack }: ClientsOptions): void {
  const faults: string[] = [];
  const fault = (what: string): void => void (faults.length < 20 && faults.push(what));
  const [late, lateStreams] = [new Map<number, number>(), new Map<number, number>()];
  const [counts, streamCounts, slowCounts, slowStreamCounts] = [
    newCounts(),
    newCounts(),
    newCounts(),
    newCounts(),
  ];
  const common = { url, token, shape, fault };
  const noteIn = (all: Map<number, number>) => ({
    late: (us: number): void => {
      const tenths = Math.floor(us / 100);
      all.set(tenths, (all.get(tenths) ?? 0) + 1);
    },
  });
  const mine = (count: number): number[] =>
    Array.from({ length: count }, (_, n) => n).filter((n) => n % parts === part);
  /** The followers of each session, its owner first. */
  const followers = new Map<string, LoadClient[]>();
  const streams = new Map<string, StreamReader[]>();
  const slow: LoadClient[] = [];
  const slowShape = { ...shape, slowStreams: part === parts ? shape.slowStreams : 0 };
  const slowStreams = new SlowStreamReaders(
    { ...common, shape: slowShape, counts: slowStreamCounts },
    comesBack,
  );
  const begun = new Map<string, number>();
  let deadline = 0;
  let cutOff = 0;
  let back = 0;
  answerParent({ measure: startMeter(), connect, play: begin, finish, progress });

  /** Returns the frames and events so far of clients that read at once. */
  function progress(): number {
    return counts.frames + streamCounts.frames;
  }

  async function connect(): Promise<void> {
    for (const index of mine(shape.sockets)) {
      const key = keyOf(index % shape.runs);
      const timed = isWide(key, shape) ? {} : noteIn(late);
      const client = await LoadClient.enter({ ...common, counts, ...timed });
      followers.set(key, [...(followers.get(key) ?? []), client]);
    }
    for (const index of mine(shape.streams)) {
      const key = keyOf(index % shape.runs);
      const timed = isWide(key, shape) ? {} : noteIn(lateStreams);
      streams.set(key, [
        ...(streams.get(key) ?? []),
        new StreamReader({ ...common, counts: streamCounts, ...timed }),
      ]);
    }
    for (let left = part === parts ? shape.slow : 0; left > 0; left--)
      slow.push(await LoadClient.enter({ ...common, counts: slowCounts }));
    await slowStreams.connect();
    const wide = Array.from({ length: shape.wideRuns }, (_, index) => keyOf(index));
    for (const client of slow)
      for (const sessionKey of wide) await client.request("chat.subscribe", { sessionKey });
    for (const [sessionKey, [, ...others]] of followers)
      for (const client of others) await client.request("chat.subscribe", { sessionKey });
  }

  /** Starts each session's runs one after another until the time is over. */
  function begin(seconds: number): void {
    deadline = performance.now() + seconds * 1000;
    const sessions = [...followers];
    for (const [index, [key, [owner]]] of sessions.entries()) {
      if (owner === undefined) continue;
      owner.onEnd = () => void next(key, owner);
      // Spreads the starts over the time of one run, two seconds at most.
      const span = Math.min(2000, shape.deltas * shape.paceMs);
      setTimeout(() => void next(key, owner), (span * index) / sessions.length);
    }
    slowStreams.play(deadline);
    for (const [index, client] of slow.entries())
      void (index % 2 === 0 ? dawdle(client) : stall(client));
  }

  async function next(sessionKey: string, owner: LoadClient): Promise<void> {
    if (performance.now() >= deadline) return;
    const number = begun.get(sessionKey) ?? 0;
    begun.set(sessionKey, number + 1);
    const label = `${sessionKey.replace(" ", "-")}/${number}`;
    const message = `${label} ${isWide(sessionKey, shape) ? shape.wideWidth : shape.width}`;
    await owner.request("chat.send", { sessionKey, message, idempotencyKey: label });
    for (const reader of streams.get(sessionKey) ?? []) reader.read(sessionKey, label);
  }

  async function dawdle(client: LoadClient): Promise<void> {
    while (performance.now() < deadline && client.isOpen) {
      client.look(true);
      await sleep(shape.awayMs);
      client.look(false);
      await sleep(shape.awayMs / 10);
    }
  }

  /** Stops reading until nearly the end. */
  async function stall(client: LoadClient): Promise<void> {
    client.look(true);
    await sleep((deadline - performance.now()) * 0.8);
    client.look(false);
  }

  /** Waits for the last runs. Then every client must have seen each run completely. */
  async function finish(): Promise<ClientsReport> {
    const readers = [...followers.values(), ...streams.values()].flat();
    const limit = performance.now() + shape.deltas * shape.paceMs + 20_000;
    while (performance.now() < limit && !areDone()) await sleep(50);
    for (const [key, clients] of followers) {
      for (const client of clients) {
        if (!client.isOpen) fault(`${key}: a client that reads was closed: ${client.closeCode}`);
        if (client.runs.size !== begun.get(key) || !client.isDone)
          fault(
            `${key}: ${client.runs.size} of ${begun.get(key)} runs, ${client.isDone ? "all" : "not all"} to the end`,
          );
      }
    }
    for (const [key, all] of streams)
      for (const { runs, isDone } of all)
        if (runs.size !== begun.get(key) || !isDone)
          fault(`${key}: a reader over HTTP did not see all`);
    for (const client of slow) await settle(client);
    const slowOnes = await slowStreams.finish(limit);
    for (const client of [...readers, ...slow]) client.close();
    return {
      counts,
      streams: streamCounts,
      slow: slowCounts,
      slowStreams: slowOnes,
      cutOff,
      back,
      faults,
      late: [...late],
      lateStreams: [...lateStreams],
    };

    function areDone(): boolean {
      const areEven = [...followers].every(([key, all]) =>
        all.every(({ runs }) => runs.size === begun.get(key)),
      );
      return (
        areEven &&
        [...readers, ...slow.filter(({ isOpen }) => isOpen)].every(({ isDone }) => isDone)
      );
    }
  }

  /**
   * A client that was cut off reads the rest in its socket, reconnects, and gets the missing
   * events.
   */
  async function settle(client: LoadClient): Promise<void> {
    if (client.isOpen) {
      if (!client.isDone) fault("a slow reader did not see the end of its runs");
      return;
    }
    cutOff++;
    if (!comesBack) return;
    if (client.closeCode !== 4413 && client.closeCode !== 1006)
      fault(`a slow reader was closed: ${client.closeCode}`);
    const again = await LoadClient.enter({ ...common, counts: slowCounts } satisfies LoadOptions);
    await again.resume(client);
    const limit = performance.now() + 10_000;
    while (performance.now() < limit && !again.isDone) await sleep(20);
    if (again.isDone) back++;
    else fault("a slow reader that came back did not get the rest");
    again.close();
  }
}

function newCounts(): Counts {
  return { frames: 0, deltas: 0, joined: 0, snapshots: 0, ended: 0 };
}
