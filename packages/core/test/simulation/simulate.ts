/** Runs simulations one after the other, each to its end or its first finding. */
import { getEventListeners } from "node:events";
import { errorText } from "../../src/errors.ts";
import { drawPlan } from "./draw-plan.ts";
import type { Plan } from "./plan.ts";
import { Random } from "./random.ts";
import type { CheckName, Finding } from "./report.ts";
import { drained, Timeline } from "./timeline.ts";
import type { Watch } from "./watch.ts";
import { createWorld } from "./world.ts";

/** More timers than any simulation that ends. */
const MAX_STEPS = 5000;

export interface Verdict {
  readonly finding?: Finding;
  /** One line per event; empty unless requested. */
  readonly trace: readonly string[];
  readonly runs: number;
  readonly events: number;
  /** How often each event happened. */
  readonly census: ReadonlyMap<string, number>;
}

export class Simulator implements Disposable {
  readonly #rejections: unknown[] = [];
  readonly #note = (reason: unknown): void => void this.#rejections.push(reason);

  constructor() {
    process.on("unhandledRejection", this.#note);
  }

  [Symbol.dispose](): void {
    process.off("unhandledRejection", this.#note);
  }

  run(seed: number): Promise<Verdict> {
    return this.runPlan(drawPlan(seed));
  }

  async runPlan(plan: Plan, withTrace = false): Promise<Verdict> {
    const timeline = new Timeline(new Random(~plan.seed));
    const trace: string[] = [];
    let finding: Finding | undefined;
    const report = (check: CheckName, text: string): void => {
      finding ??= { check, text };
      if (withTrace) trace.push(`${timeline.elapsed} ms FOUND ${check}: ${text}`);
    };
    const note = (line: () => string): void => {
      if (withTrace) trace.push(`${timeline.elapsed} ms ${line()}`);
    };
    const census = new Map<string, number>();
    const count = (what: string): void => void census.set(what, (census.get(what) ?? 0) + 1);
    this.#rejections.length = 0;
    const world = createWorld(plan, timeline, { report, note, count });
    for (let steps = 0; ; steps++) {
      await drained();
      if (finding !== undefined) break;
      const [rejection] = this.#rejections;
      if (rejection !== undefined) report("2 unhandled rejection", errorText(rejection));
      if (steps > MAX_STEPS) report("2 hangs", "the world does not come to rest");
      if (timeline.step() || (!world.isOver && world.giveUp())) continue;
      if (!world.isOver)
        report("2 hangs", "a run has not settled, and nothing will happen any more");
      else world.end((signal) => getEventListeners(signal, "abort").length);
      break;
    }
    const watches = world.watches.flatMap((watch) => [watch, ...watch.children]);
    const sum = (of: (watch: Watch) => number): number =>
      watches.reduce((total, watch) => total + of(watch), 0);
    const counts = {
      runs: sum(({ circumstances }) => circumstances.runs.length),
      events: sum(({ events }) => events),
    };
    return { trace, census, ...counts, ...(finding !== undefined && { finding }) };
  }
}
