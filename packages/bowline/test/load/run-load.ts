/**
 * Runs the same load on the gateway and on a bare `ws` server, one after the other, and reports
 * both.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { forkScript, type Forked } from "../gateway/forked.ts";
import type { Measure } from "../gateway/meter.ts";
import type { ClientsOptions, ClientsReport, Late } from "./clients.ts";
import type { Shape } from "./shape.ts";

export interface LoadReport {
  readonly shape: Shape;
  readonly gateway: Figures;
  readonly bare: Figures;
  readonly faults: readonly string[];
}

export interface Figures {
  /**
   * Deltas to clients that read at once, and their delays from the model to the client, in
   * milliseconds.
   */
  readonly deltas: number;
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  /** The same for server-sent events. */
  readonly streams: { readonly p50: number; readonly p99: number; readonly most: number };
  /** Frames and events to all clients, per second. */
  readonly framesPerSecond: number;
  readonly runs: number;
  /** Processor time of the server: share of one core, and microseconds per frame. */
  readonly cpu: number;
  readonly cpuPerFrame: number;
  /** The longest time that the event loop was blocked, in milliseconds. */
  readonly heldMs: number;
  /**
   * Resident memory in bytes: without clients, with idle clients, the highest under load, and
   * afterwards.
   */
  readonly rss: readonly [empty: number, idle: number, peak: number, after: number];
  /** Objects and buffers in it after a garbage collection, in bytes. */
  readonly used: readonly [empty: number, idle: number, loaded: number, after: number];
  /** Share of one core used by all client processes. It increases the delays, too. */
  readonly clientsCpu: number;
  readonly slow: {
    readonly cutOff: number;
    readonly back: number;
    readonly joined: number;
    readonly snapshots: number;
  };
  /**
   * Complete runs of the slow readers of server-sent events, how often they left a run, and how
   * often they were cut off.
   */
  readonly slowStreams: { readonly ended: number; readonly left: number; readonly cutOff: number };
}

/** Number of processes for the clients, besides one for the slow ones. */
const PARTS = 2;

/**
 * A short load on a busy machine may not exercise everything. It is repeated with twice the time
 * until it does, up to this many seconds.
 */
const SHORT_SECONDS = 10;
const LONGEST_SECONDS = 40;

export async function runLoad(
  asked: Shape,
  onProgress: (line: string) => void,
): Promise<LoadReport> {
  const faults: string[] = [];
  let shape = asked;
  const one = async (name: "gateway" | "bare"): Promise<Figures> => {
    const folder = await mkdtemp(join(tmpdir(), "bowline-load-"));
    try {
      return await measureOne(shape, { name, folder, faults, onProgress });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  let gateway = await one("gateway");
  const isShort = asked.seconds < SHORT_SECONDS;
  const longest = isShort ? LONGEST_SECONDS : 0;
  while (shape.seconds * 2 <= longest && untried(gateway, isShort).length > 0) {
    shape = { ...shape, seconds: shape.seconds * 2 };
    gateway = await one("gateway");
  }
  const bare = await one("bare");
  faults.push(...untried(gateway, isShort));
  return { shape, gateway, bare, faults };
}

function untried({ slow, streams, slowStreams }: Figures, isShort: boolean): string[] {
  const found: string[] = [];
  const { cutOff, back, joined } = slow;
  // A short run may exercise only one of the two.
  const isTried = isShort ? cutOff + joined > 0 : cutOff > 0 && joined > 0;
  if (!isTried || back < cutOff)
    found.push(
      `slow readers were not tried: ${cutOff} cut off, ${back} back, ${joined} joined deltas`,
    );
  if (!(streams.p50 > 0)) found.push("readers over HTTP were not tried");
  const { ended, left } = slowStreams;
  if (ended === 0 || left === 0)
    found.push(`slow readers over HTTP were not tried: ${ended} runs to their end, ${left} left`);
  return found;
}

interface Options {
  readonly name: "gateway" | "bare";
  readonly folder: string;
  readonly faults: string[];
  readonly onProgress: (line: string) => void;
}

async function measureOne(
  shape: Shape,
  { name, folder, faults, onProgress }: Options,
): Promise<Figures> {
  const token = "the-token-of-the-load";
  await using server = await forkScript(join(import.meta.dirname, `${name}-server.ts`), {
    folder,
    token,
    shape,
  });
  const url = `ws://127.0.0.1:${await server.ask<number>("port")}`;
  const empty = await server.ask<Measure>("measure");
  const common = { url, token, shape, parts: PARTS, comesBack: name === "gateway" };
  const script = join(import.meta.dirname, "clients.ts");
  await using clients = await several(
    Array.from({ length: PARTS + 1 }, (_, part) =>
      forkScript(script, { ...common, part } satisfies ClientsOptions),
    ),
  );
  await clients.ask("connect");
  await sleep(200);
  const idle = await server.ask<Measure>("measure");
  await clients.ask<Measure>("measure");
  await clients.ask("play", shape.seconds);
  for (let second = 1; second <= shape.seconds; second++) {
    await sleep(1000);
    const frames = total(await clients.ask<number>("progress"));
    onProgress(`${name}: ${second} of ${shape.seconds} s, ${frames} frames`);
  }
  const [used, theirs] = await Promise.all([
    server.ask<Measure>("measure"),
    clients.ask<Measure>("measure"),
  ]);
  // Adds the frames written to slow readers to those counted on arrival by the others.
  const frames = total(await clients.ask<number>("progress"));
  const reports = await clients.ask<ClientsReport>("finish");
  const after = await server.ask<Measure>("measure");
  faults.push(...reports.flatMap((report) => report.faults.map((fault) => `${name}: ${fault}`)));
  const sum = (pick: (report: ClientsReport) => number): number =>
    reports.reduce((all, each) => all + pick(each), 0);
  const late = sorted(reports.flatMap((report) => report.late));
  const lateStreams = sorted(reports.flatMap((report) => report.lateStreams));
  return {
    deltas: sum(({ counts, streams }) => counts.deltas + streams.deltas),
    p50: at(late, 0.5),
    p99: at(late, 0.99),
    most: at(late, 1),
    streams: { p50: at(lateStreams, 0.5), p99: at(lateStreams, 0.99), most: at(lateStreams, 1) },
    framesPerSecond: frames / (used.wallMs / 1000),
    runs: sum(({ counts }) => counts.ended) / (shape.sockets / shape.runs),
    cpu: used.cpuMs / used.wallMs,
    cpuPerFrame: (used.cpuMs * 1000) / frames,
    heldMs: used.heldMs,
    rss: [empty.rss, idle.rss, Math.max(used.peakRss, after.peakRss), after.rss],
    used: [empty.used, idle.used, used.used, after.used],
    clientsCpu: theirs.reduce((all, each) => all + each.cpuMs / each.wallMs, 0),
    slow: {
      cutOff: sum((report) => report.cutOff),
      back: sum((report) => report.back),
      joined: sum((report) => report.slow.joined),
      snapshots: sum((report) => report.slow.snapshots),
    },
    slowStreams: {
      ended: sum(({ slowStreams }) => slowStreams.counts.ended),
      left: sum(({ slowStreams }) => slowStreams.left),
      cutOff: sum(({ slowStreams }) => slowStreams.cutOff),
    },
  };
}

function total(frames: readonly number[]): number {
  return frames.reduce((sum, each) => sum + each, 0);
}

interface Several extends AsyncDisposable {
  ask<T>(name: string, question?: unknown): Promise<T[]>;
}

async function several(starting: readonly Promise<Forked>[]): Promise<Several> {
  const all = await Promise.all(starting);
  return {
    ask: <T>(name: string, question?: unknown) =>
      Promise.all(all.map((each) => each.ask<T>(name, question))),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(all.map((each) => each.kill()));
    },
  };
}

function sorted(late: Late): Late {
  return late.toSorted(([a], [b]) => a - b);
}

/** Returns the delay at this percentile in milliseconds. */
function at(late: Late, share: number): number {
  let left = share * late.reduce((sum, [, count]) => sum + count, 0);
  for (const [tenths, count] of late) {
    left -= count;
    if (left <= 0) return (tenths + 1) / 10;
  }
  return Number.NaN;
}
