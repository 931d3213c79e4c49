/**
 * Breaks things at random, in lanes: each lane breaks one thing of its kind at a time and mends it. The
 * seed decides what and how long; what is interrupted by it depends on the timing.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Handle, Kind } from "../../kit/service.ts";
import type { System } from "../../kit/system.ts";
import type { Outside } from "../outside/outside.ts";
import type { Random } from "../seeded.ts";
import { LONG_WORDS } from "../task.ts";
import type { Network } from "./network.ts";
import type { Outages } from "./outages.ts";

/** Times in milliseconds, from and to. */
type Span = readonly [number, number];

interface Lane {
  readonly kinds: readonly Kind[];
  /** The time between two breaks. */
  readonly pause: Span;
  readonly down: Span;
}

const lanes: readonly Lane[] = [
  { kinds: ["worker"], pause: [3000, 9000], down: [300, 3000] },
  { kinds: ["gateway"], pause: [4000, 12_000], down: [300, 2000] },
  { kinds: ["restate"], pause: [8000, 20_000], down: [500, 4000] },
  { kinds: ["postgres"], pause: [12_000, 30_000], down: [300, 3000] },
  { kinds: ["nats", "balancer"], pause: [6000, 16_000], down: [300, 3000] },
];

/** The links that are cut. The drill's own host has the clients, and also the model and the tools. */
const links: readonly (readonly [Kind, Kind | "drill"])[] = [
  ["restate", "restate"],
  ["worker", "postgres"],
  ["gateway", "postgres"],
  ["worker", "nats"],
  ["gateway", "nats"],
  ["worker", "balancer"],
  ["restate", "balancer"],
  ["gateway", "balancer"],
  ["gateway", "drill"],
];
const CUT: Span = [2000, 7000];

/** Longer than the health checks of the balancer take, so that others take over. */
const STOP: Span = [5000, 9000];
const LONGEST_SCENE_MS = 15_000;
/** As short as a restart can be. */
const BLINK_MS = 100;
/** A long answer of which this little was sent streams on for longer than it takes to go on elsewhere. */
const JUST_BEGUN_MS = 800;
/** The first answers have begun by then. */
const FIRST_ANSWERS_MS = 6000;
/** As long as a lost attempt has, until it has to be silent, and as long as the answer streams on. */
const AFTER_FIRST_LOSS_MS = 8000;

export interface ChaosOptions {
  readonly system: System;
  readonly outside: Outside;
  readonly outages: Outages;
  /** The hosts of the processes. Undefined if all run on loopback: then no link is cut. */
  readonly network: Network | undefined;
  readonly random: Random;
  /** Scales all pauses. Default 1. */
  readonly pace?: number;
  readonly signal: AbortSignal;
}

/** Breaks and mends until the signal fires. Resolves when all is mended. */
export async function breakThings(options: ChaosOptions): Promise<void> {
  const { random } = options;
  const busy = new Set<Handle>();
  await new Breaker(options, random.fork(), busy).firstLoss();
  await Promise.all([
    ...lanes.map((lane) => new Breaker(options, random.fork(), busy).killing(lane)),
    new Breaker(options, random.fork(), busy).stopping(),
    new Breaker(options, random.fork(), busy).scenes(),
    new Breaker(options, random.fork(), busy).losses(),
    new Breaker(options, random.fork(), busy).cutting(),
  ]);
}

class Breaker {
  readonly #options: ChaosOptions;
  readonly #random: Random;
  /** The processes that some lane has broken. */
  readonly #busy: Set<Handle>;

  constructor(options: ChaosOptions, random: Random, busy: Set<Handle>) {
    this.#options = options;
    this.#random = random;
    this.#busy = busy;
  }

  async killing({ kinds, pause, down }: Lane): Promise<void> {
    const { outages } = this.#options;
    while (await this.#rests(pause)) {
      const handle = this.#choose(kinds);
      if (handle !== undefined)
        await this.#holding(handle, () => outages.kill(handle, this.#draw(down)));
    }
  }

  /** Stops workers beyond every limit, and wakes them. */
  async stopping(): Promise<void> {
    const { outages } = this.#options;
    while (await this.#rests([7000, 16_000])) {
      const worker = this.#choose(["worker"]);
      if (worker === undefined) continue;
      const until = this.#rests(STOP);
      await this.#holding(worker, () => outages.stop(worker, until));
    }
  }

  /**
   * Stops a worker that runs a tool with a large result until the tool has answered and another worker has
   * had the time to take the run over. The woken worker then has a result to write.
   */
  async scenes(): Promise<void> {
    const { outages, outside, signal } = this.#options;
    while (await this.#rests([500, 1500])) {
      const use = outside.toolServer.running.find(({ name }) => name === "large");
      const worker = this.#options.system.workers.find(
        (handle) => !this.#busy.has(handle) && handle.isRunning && handle.pid === use?.pid,
      );
      if (use === undefined || worker === undefined) continue;
      const until = (async () => {
        const end = performance.now() + LONGEST_SCENE_MS;
        while (use.endedAt === undefined && performance.now() < end) await sleep(50);
        if (!signal.aborted) await sleep(this.#draw(STOP));
      })();
      await this.#holding(worker, () => outages.stop(worker, until));
      await this.#rests([6000, 12_000]);
    }
  }

  /**
   * Loses attempts while nothing else is broken. What they say afterwards cannot be the fault of another
   * process that does not notice: so this shows whether attempts that are over are silent.
   */
  async firstLoss(): Promise<void> {
    const { signal } = this.#options;
    const end = performance.now() + FIRST_ANSWERS_MS;
    while (!signal.aborted && performance.now() < end) {
      // Several of them begin meanwhile.
      await sleep(JUST_BEGUN_MS / 2);
      if (!(await this.#loses())) continue;
      await sleep(AFTER_FIRST_LOSS_MS, undefined, { signal }).catch(() => {});
      return;
    }
  }

  /** Loses attempts again and again. */
  async losses(): Promise<void> {
    while (await this.#rests([100, 300]))
      if (await this.#loses()) await this.#rests([8000, 16_000]);
  }

  /**
   * Kills the balancer for a moment if a long answer begins. All attempts end, and their processes live on:
   * the answer streams to one that has lost its run to another worker. Resolves with whether it did.
   */
  async #loses(): Promise<boolean> {
    const { outages, outside, system } = this.#options;
    const balancer = system.handles.find(({ kind }) => kind === "balancer");
    const isDue = outside.ledger.models.some(
      ({ state, text, startedAt }) =>
        state === "streaming" &&
        Date.now() - startedAt < JUST_BEGUN_MS &&
        text.split(" ").length > LONG_WORDS,
    );
    if (balancer === undefined || !isDue || this.#busy.has(balancer)) return false;
    await this.#holding(balancer, () => outages.kill(balancer, BLINK_MS));
    return true;
  }

  /** Cuts the link between two hosts, or a Restate node from all others of its kind, and heals it. */
  async cutting(): Promise<void> {
    const { network, outages } = this.#options;
    if (network === undefined) return;
    while (await this.#rests([5000, 12_000])) {
      const [kind, otherKind] = this.#random.pick(links);
      const [one, ...more] = this.#names(kind);
      const others = kind === otherKind ? more : this.#names(otherKind).slice(0, 1);
      if (one === undefined || others.length === 0) continue;
      const name = `${one} from ${others.join(" and ")}`;
      const outage = outages.begin({ name, kind }, "cut");
      for (const other of others) await network.cut(one, other);
      await this.#rests(CUT);
      for (const other of others) await network.heal(one, other);
      outage.to = Date.now();
    }
  }

  /** The names of the hosts of a kind, in random order. */
  #names(kind: Kind | "drill"): string[] {
    if (kind === "drill") return ["drill"];
    const all = this.#options.system.handles.filter((handle) => handle.kind === kind);
    return all
      .map(({ name }) => ({ name, order: this.#random.next() }))
      .toSorted((a, b) => a.order - b.order)
      .map(({ name }) => name);
  }

  /** Resolves with false when the drill's time is over. */
  async #rests(span: Span): Promise<boolean> {
    const { signal, pace = 1 } = this.#options;
    await sleep(this.#draw(span) * pace, undefined, { signal }).catch(() => {});
    return !signal.aborted;
  }

  #draw([from, to]: Span): number {
    return this.#random.between(from, to);
  }

  /** Chooses a running process that nothing else has broken. One worker and one of each other stays. */
  #choose(kinds: readonly Kind[]): Handle | undefined {
    const kind = this.#random.pick(kinds);
    const all = this.#options.system.handles.filter((handle) => handle.kind === kind);
    const free = all.filter((handle) => handle.isRunning && !this.#busy.has(handle));
    const mayBreak = all.length === 1 || free.length > 1;
    return mayBreak && free.length > 0 ? this.#random.pick(free) : undefined;
  }

  async #holding(handle: Handle, work: () => Promise<void>): Promise<void> {
    this.#busy.add(handle);
    try {
      await work();
    } finally {
      this.#busy.delete(handle);
    }
  }
}
