/**
 * Sends invalid frames and requests to a gateway while one healthy client works, and measures the
 * server.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { closeCodes, errorNumbers } from "../../src/gateway/protocol/frame.ts";
import { defaultLimits } from "../../src/gateway/protocol/limits.ts";
import { badFrames, garbage, type AnyFrame } from "../gateway/bad-frames.ts";
import { badRequest, type AnyRequest, type TokensOfTest } from "../gateway/bad-requests.ts";
import { forkScript } from "../gateway/forked.ts";
import type { Measure } from "../gateway/meter.ts";
import { seeded } from "../gateway/seeded.ts";
import * as attacks from "./attacks.ts";
import { breakHttp } from "./broken-http.ts";
import { startHealthy } from "./healthy.ts";
import * as http from "./http-attacks.ts";

export interface FuzzOptions {
  /** Number of frames and requests together. */
  readonly frames: number;
  /** The same seed gives the same input. The order of arrival depends on timing. */
  readonly seed: number;
  readonly onProgress?: (report: FuzzReport) => void;
}

export interface FuzzReport {
  frames: number;
  /** Requests over HTTP. */
  requests: number;
  connections: number;
  /** The faults, each with the seed of the connection that saw it. */
  readonly faults: string[];
  /** Resident and used memory of the server after each tenth of the run, in bytes. */
  readonly tenths: Measure[];
  /** The longest time that the server's event loop was blocked, in milliseconds. */
  heldMs: number;
  cpuMs: number;
  /**
   * How long the healthy client waited for answers, in milliseconds: median, 99th percentile,
   * longest.
   */
  waits: readonly [p50: number, p99: number, most: number];
  /** How often each error number, close code and status was seen. */
  readonly codes: Map<number, number>;
  healthyRuns: number;
}

export const fuzzBounds = {
  /**
   * Maximum ratio of the memory of the last tenth to the first full one. More than that is a leak.
   */
  growth: 1.3,
  /**
   * Allowed growth besides that, in bytes, because the memory of a small server fluctuates more.
   */
  slack: 24 * 1024 * 1024,
  /** The longest time that a frame may block the event loop, in milliseconds. */
  heldMs: 400,
  /** The longest time that the healthy client may wait, in milliseconds. */
  waitMs: 5000,
} as const;

/** Refusals that a client can cause by its input alone. A long run must see all of them. */
const refusals = [
  "parse",
  "bad_request",
  "unknown_method",
  "bad_params",
  "not_found",
  "conflict",
] as const;
const closes = [
  "protocol",
  "unsupported",
  "encoding",
  "tooLarge",
  "badFrames",
  "unauthorized",
  "secondAuth",
  "slow",
] as const;
const answered = [200, 202, 400, 401, 403, 404, 405, 409, 413, 417, 431];
const usual: readonly number[] = [
  ...refusals.map((name) => errorNumbers[name]),
  ...closes.map((name) => closeCodes[name]),
  ...answered,
];
const LONG = 50_000;
/**
 * An attack, an answer of the server process or a wait of the healthy client that takes longer, in
 * milliseconds, counts as a hang, even on a busy machine.
 */
const HANG_MS = 120_000;
/** How long closed connections may take to disappear, in milliseconds. Usually it is a second. */
const GONE_MS = 20_000;
/** Concurrent connections. */
const LANES = 6;
const MAX_FAULTS = 20;

export async function fuzz({ frames: wanted, seed, onProgress }: FuzzOptions): Promise<FuzzReport> {
  const folder = await mkdtemp(join(tmpdir(), "bowline-fuzz-"));
  const tokens = { full: "the-token-of-the-fuzz", read: "a-token-for-reading" };
  const report: FuzzReport = {
    frames: 0,
    requests: 0,
    connections: 0,
    faults: [],
    tenths: [],
    heldMs: 0,
    cpuMs: 0,
    waits: [0, 0, 0],
    healthyRuns: 0,
    codes: new Map(),
  };
  try {
    // Limits the space for young objects. Otherwise the engine enlarges it, which looks like a
    // leak.
    const flags = ["--max-semi-space-size=8"];
    await using server = await forkScript(
      join(import.meta.dirname, "server.ts"),
      { folder, tokens },
      flags,
    );
    const ask = <T>(name: string): Promise<T> =>
      orElse(server.ask<T>(name), HANG_MS, () => {
        throw new Error(`the server's process does not answer: ${name}`);
      });
    let isOver = false;
    void server.ended.then((why) => isOver || report.faults.push(`the server is gone: ${why}`));
    const note = (code: number): void =>
      void report.codes.set(code, (report.codes.get(code) ?? 0) + 1);
    const target = { token: tokens.full, tokens, note, port: await ask<number>("port") };
    const healthy = await startHealthy(target);
    // Runs the floods first, because the process keeps the memory they need. The first measurement
    // comes after them.
    const floods = Array.from({ length: LANES }, (_, which) => flood(which).attack(target));
    report.faults.push(...(await Promise.all(floods)).flat());
    await ask("measure");
    for (let tenth = 1; tenth <= 10 && report.faults.length < MAX_FAULTS; tenth++) {
      await Promise.all(Array.from({ length: LANES }, () => lane(target, (wanted * tenth) / 10)));
      const measure = await ask<Measure>("measure");
      report.tenths.push(measure);
      report.heldMs = Math.max(report.heldMs, measure.heldMs);
      report.cpuMs += measure.cpuMs;
      onProgress?.(report);
    }
    const { faults, waits, runs } = await healthy.stop(HANG_MS);
    let left = await ask<number>("sockets");
    for (
      const limit = performance.now() + GONE_MS;
      left > 0 && performance.now() < limit;
      await sleep(50)
    )
      left = await ask<number>("sockets");
    if (left > 0) report.faults.push(`${left} sockets stay open`);
    const printed = await ask<string>("printed");
    if (printed !== "") report.faults.push(`the server printed: ${printed}`);
    const stopped = await orElse(server.ask("close"), GONE_MS, () => "late");
    if (stopped === "late") report.faults.push("the server does not stop");
    isOver = true;
    report.healthyRuns = runs;
    report.waits = [quantile(waits, 0.5), quantile(waits, 0.99), waits.at(-1) ?? Number.NaN];
    report.faults.push(...faults.slice(0, MAX_FAULTS), ...breaches(report));
  } catch (error) {
    report.faults.push(String(error));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return report;

  async function lane(target: Target, until: number): Promise<void> {
    while (report.frames + report.requests < until && report.faults.length < MAX_FAULTS) {
      const own = (seed + report.connections++) | 0;
      const { frames, requests = 0, name, attack } = draw(own, tokens);
      report.frames += frames;
      report.requests += requests;
      const over = attack(target).catch((error: unknown) => [String(error)]);
      const faults = await orElse(over, HANG_MS, () => [`it goes on after ${HANG_MS} ms`]);
      for (const fault of faults) report.faults.push(`${name}, seed ${own}: ${fault}`);
    }
  }
}

type Target = attacks.Target & http.HttpTarget;

/** Resolves with the work, or with `late()` after the time limit. */
async function orElse<T, L>(work: Promise<T>, ms: number, late: () => L): Promise<T | L> {
  const over = new AbortController();
  const limit = sleep(ms, undefined, { signal: over.signal }).then(late);
  limit.catch(() => {}); // rejects when the work finished first
  return Promise.race([work, limit]).finally(() => over.abort());
}

interface Attack {
  readonly name: string;
  readonly frames: number;
  readonly requests?: number;
  readonly attack: (target: Target) => Promise<string[]>;
}

/** Returns the attack of the connection with this seed. */
export function draw(seed: number, tokens: TokensOfTest): Attack {
  const one = <T>(arbitrary: fc.Arbitrary<T>): T =>
    fc.sample(arbitrary, { seed, numRuns: 1 })[0] as T;
  const random = seeded(seed); // fast-check prefers the ends of a range
  const which = Math.floor(random() * 1_000_000);
  const isIn = which % 2 === 0;
  const some = (most: number): AnyRequest[] =>
    one(fc.array(badRequest(tokens), { minLength: 1, maxLength: most, size: "max" }));
  const kinds: readonly (readonly [weight: number, make: () => Attack])[] = [
    [790, () => ofFrames("after auth", one(badFrames(60)), attacks.afterAuth)],
    [100, () => ofFrames("before auth", one(badFrames(4)), attacks.beforeAuth)],
    [10, () => ofFrames("garbage", one(garbage), attacks.afterAuth)],
    [15, () => ofFrames("too large", [...one(badFrames(10)), tooLarge(which)], attacks.afterAuth)],
    [15, () => ofFrames("too large before auth", [tooLarge(which)], attacks.beforeAuth)],
    [
      40,
      () =>
        single(`broken protocol ${which}`, (target) =>
          attacks.breakProtocol(target, which >> 1, isIn),
        ),
    ],
    [5, () => single("in pieces", attacks.inPieces)],
    [15, () => single(`vanishing ${which}`, (target) => attacks.vanish(target, which))],
    [8, () => single("reset", attacks.resetAtOnce)],
    [2, () => flood(which)],
    [110, () => ofRequests("over HTTP", some(20), http.oneByOne)],
    [60, () => ofRequests("pipelined", some(20), http.pipelined)],
    [40, () => ofRequests(`broken HTTP ${which}`, [], (target) => breakHttp(target, which))],
    [
      15,
      () =>
        ofRequests("half closed", some(1), (target, [first]) =>
          http.halfClosed(target, first as AnyRequest),
        ),
    ],
    [
      8,
      () =>
        ofRequests("in drops", some(1), (target, [first]) =>
          http.inDrops(target, first as AnyRequest, isIn),
        ),
    ],
    [
      15,
      () =>
        ofRequests("vanishing reader", some(6), (target, all) => http.vanish(target, all, isIn)),
    ],
    [1, () => ofRequests("flood over HTTP", [], (target) => http.flood(target, 3000))],
  ];
  let at = random() * kinds.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, make] of kinds) {
    at -= weight;
    if (at < 0) return make();
  }
  return flood(which);
}

/** Requests that have long answers or much work, or that are refused. */
const floods = [
  { times: 1000, frame: '{"id":1,"method":"sessions.list","params":{"limit":500}}' },
  {
    times: 1000,
    frame: '{"id":1,"method":"chat.history","params":{"sessionKey":"session 1","limit":500}}',
  },
  {
    times: 1000,
    frame: '{"id":1,"method":"chat.subscribe","params":{"sessionKey":"session 1","seq":-1}}',
  },
  {
    times: 6000,
    frame: JSON.stringify({ id: "\u0001".repeat(200), method: "\u0001".repeat(100) }),
  },
];

function flood(which: number): Attack {
  const { times, frame } = floods[which % floods.length] as (typeof floods)[number];
  return ofFrames("flood", Array<string>(times).fill(frame), attacks.flood);
}

function tooLarge(which: number): AnyFrame {
  const size = defaultLimits.maxFrameBytes + 1 + (which % 1000);
  return which % 2 === 0 ? "x".repeat(size) : Buffer.alloc(size);
}

function single(name: string, attack: (target: Target) => Promise<string[]>): Attack {
  return { name, frames: 1, attack };
}

function ofFrames<F extends AnyFrame>(
  name: string,
  frames: readonly F[],
  attack: (target: Target, frames: readonly F[]) => Promise<string[]>,
): Attack {
  return { name, frames: frames.length, attack: (target) => attack(target, frames) };
}

function ofRequests(
  name: string,
  requests: readonly AnyRequest[],
  attack: (target: Target, requests: readonly AnyRequest[]) => Promise<string[]>,
): Attack {
  return {
    name,
    frames: 0,
    requests: Math.max(1, requests.length),
    attack: (target) => attack(target, requests),
  };
}

function breaches({ tenths, heldMs, waits, frames, requests, codes }: FuzzReport): string[] {
  const [first, last] = [tenths[0], tenths.at(-1)];
  const found: string[] = [];
  if (first === undefined || last === undefined) return ["nothing was measured"];
  if (last.rss > first.rss * fuzzBounds.growth + fuzzBounds.slack)
    found.push(`memory grew from ${inMegabytes(first.rss)} to ${inMegabytes(last.rss)} MB`);
  if (heldMs > fuzzBounds.heldMs) found.push(`the loop was held for ${heldMs.toFixed(0)} ms`);
  if (!(waits[2] <= fuzzBounds.waitMs))
    found.push(`the healthy client waited for ${waits[2].toFixed(0)} ms`);
  const missing = usual.filter((code) => !codes.has(code));
  if (frames + requests >= LONG && missing.length > 0)
    found.push(`never seen: ${missing.join(", ")}`);
  return found;
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function inMegabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0);
}
