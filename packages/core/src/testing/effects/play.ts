/** Plays a scenario: whole, and stopped at each moment. */
import { sleep } from "../../clock.ts";
import type { AgentMessage } from "../../agent/contract/agent-message.ts";
import type { Effects } from "../../agent/contract/effects.ts";
import { createLlmFilter } from "../../agent/llm-filter.ts";
import type { StreamFn } from "../../llm/model.ts";
import { createScriptedModel } from "../scripted-model.ts";
import { check, same } from "../store/checks.ts";
import { atRest, CaseClock, untilStopped } from "./case-clock.ts";
import type { EffectsHarness } from "./harness.ts";
import type { End, Scenario, World } from "./scenario.ts";
import { comparable, isSubsequence } from "./comparable.ts";
import { Watch, type History, type Stop } from "./watch.ts";

const prompt: AgentMessage = { role: "user", content: "Go.", timestamp: 1 };
/** Longer than any wait of a scenario, in turns of the event loop without progress. */
const MAX_IDLE = 2000;
const HANG_MS = 30_000;

/** One play of a scenario: its end, and the calls of each attempt. */
export interface Play {
  readonly end: End;
  readonly attempts: readonly Watch[];
  readonly history: History;
}

export type CreateHarness = () => EffectsHarness | Promise<EffectsHarness>;

/** Plays the scenario with these stops, each in the attempt of its place. */
export async function play(
  scenario: Scenario,
  createHarness: CreateHarness,
  stops: readonly Stop[] = [],
): Promise<Play> {
  const harness = await createHarness();
  const history = newHistory(harness);
  const clock = new CaseClock();
  const done = new Map<string, Promise<unknown>>();
  const time = harness.clock ?? clock;
  const from = time.now();
  const attempts: Watch[] = [];
  try {
    for (const stop of [...stops, undefined]) {
      const watch = new Watch(history, stop);
      attempts.push(watch);
      const running = start(scenario, harness, { watch, clock, done, attempt: attempts.length });
      const ended = await drive(running, watch, harness, clock);
      check(history.faults.length === 0, history.faults.join("; "));
      if (ended === undefined) {
        await pass(scenario.downtimeMs ?? 0, harness, clock);
        continue;
      }
      check(
        stop === undefined || endsByTime(scenario, harness),
        `attempt ${attempts.length} ended before call ${stop?.call}`,
      );
      const elapsed = Math.max(0, time.now() - from - overheadOf(harness));
      const messages = structuredClone(await harness.transcript()) as AgentMessage[];
      const end = { result: ended, messages, elapsed };
      if (harness.canRepeat === true)
        await repeat(scenario, harness, end, { clock, done, history, attempts });
      return { end, attempts, history };
    }
    throw new Error("unreachable: the last attempt has no stop");
  } finally {
    await harness.dispose?.();
  }
}

/**
 * Whether the end of a run depends on a time that moves by itself. An attempt may then end before it
 * comes to the stop of another play.
 */
function endsByTime({ ends }: Scenario, { clock }: EffectsHarness): boolean {
  return ends === "checked" && clock !== undefined;
}

export function newHistory({ replays }: EffectsHarness): History {
  return {
    replays,
    recorded: new Set(),
    begun: new Map(),
    worked: new Set(),
    announced: new Set(),
    faults: [],
  };
}

/** What an attempt is started with. */
export interface Parts {
  readonly watch: Watch;
  readonly clock: CaseClock;
  readonly done: Map<string, Promise<unknown>>;
  readonly attempt: number;
  /** Changes the effects before the watch sees them. Default: it does not. */
  readonly change?: <T extends Partial<Effects>>(effects: T) => T;
}

/** Replays a run that has ended: it makes the same calls, runs nothing, and ends byte-equal. */
async function repeat(
  scenario: Scenario,
  harness: EffectsHarness,
  end: End,
  {
    attempts,
    history,
    ...parts
  }: Omit<Parts, "watch" | "attempt" | "change"> & Pick<Play, "attempts" | "history">,
): Promise<void> {
  const watch = new Watch(history);
  const attempt = attempts.length + 1;
  const running = start(scenario, harness, { ...parts, watch, attempt });
  const result = await drive(running, watch, harness, parts.clock);
  check(history.faults.length === 0, history.faults.join("; "));
  same(watch.names, attempts.at(-1)?.names, "the calls of the run when it is replayed whole");
  same(result, end.result, "the result of the run when it is replayed whole");
  same(await harness.transcript(), end.messages, "the transcript when it is replayed whole");
}

export function start(
  scenario: Scenario,
  harness: EffectsHarness,
  { watch, clock, done, attempt, change = (effects) => effects }: Parts,
): ReturnType<EffectsHarness["attempt"]> {
  const { stopped } = watch;
  const view = untilStopped(harness.clock ?? clock, stopped);
  const script = createScriptedModel([]);
  const world: World = {
    attempt,
    harness,
    clock: view,
    overheadMs: overheadOf(harness),
    sleep: (ms, signal) => sleep(view, ms, signal),
    async once(name, work) {
      if (!done.has(name)) done.set(name, Promise.resolve(work()));
      await done.get(name);
    },
    streamFn: byAnswers(
      () => scenario.answers,
      () => world,
    ),
  };
  const { streamFn = world.streamFn, ...settings } = scenario.config?.(world) ?? {};
  return harness.attempt({
    attempt,
    prompt,
    config: { model: script.model, convertToLlm: createLlmFilter(), clock: view, ...settings },
    tools: scenario.tools?.(world) ?? [],
    streamFn,
    output: scenario.output,
    watch: (effects) => watch.watch(change(effects)),
    onWait: (name) => void (stopped.aborted || scenario.onWait?.(world, name)),
    stopped,
  });
}

/** Answers a request by the number of answers in it, so that a repeated call gets the same one. */
function byAnswers(answers: () => Scenario["answers"], world: () => World): StreamFn {
  return (model, context, options) => {
    const given = answers();
    const list = typeof given === "function" ? given(world()) : given;
    const count = context.messages.filter(({ role }) => role === "assistant").length;
    const script = createScriptedModel(list.slice(count, count + 1), { deltaLength: 1000 });
    return script.streamFn(model, context, options);
  };
}

/** Lets time pass until the attempt ends. Resolves with undefined when it is stopped. */
export async function drive<T>(
  running: Promise<T>,
  watch: Watch,
  harness: EffectsHarness,
  clock: CaseClock,
): Promise<T | undefined> {
  const end = new AbortController();
  const over = (): void => end.abort();
  const stopped = watch.reached.then(() => undefined);
  const first = Promise.race([running, stopped]);
  first.then(over, over);
  running.catch(() => {}); // that of a stopped attempt
  if (harness.clock !== undefined) {
    await sleep(harness.clock, harness.hangMs ?? HANG_MS, end.signal);
    if (end.signal.aborted) return first;
    throw hangs(watch);
  }
  for (let idle = 0; idle < MAX_IDLE; idle++) {
    await atRest();
    // The work of another medium takes turns of the event loop too.
    if (!harness.replays) await new Promise((resolve) => setTimeout(resolve));
    if (end.signal.aborted) return first;
    if (harness.isBusy?.() !== true) clock.step();
    else if (idle % 8 === 7) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw hangs(watch);
}

function hangs({ names }: Watch): Error {
  return new Error(`The run hangs after the calls ${names.join(", ")}.`);
}

/** Lets the time between two attempts pass. */
async function pass(ms: number, harness: EffectsHarness, clock: CaseClock): Promise<void> {
  if (harness.clock === undefined) clock.pass(ms);
  else await sleep(harness.clock, ms);
}

function overheadOf({ clock, overheadMs = 0 }: EffectsHarness): number {
  return clock === undefined ? 0 : overheadMs;
}

/** Plays the scenario whole, and then once for each stop. */
export async function playAll(scenario: Scenario, createHarness: CreateHarness): Promise<void> {
  const whole = await play(scenario, createHarness);
  scenario.check(whole.end, false);
  const [reference] = whole.attempts as [Watch];
  check(reference.stops.length > 0, "the run called no effect that went through watch()");
  for (const stop of reference.stops) {
    const where = `stopped ${stop.phase} ${reference.names[stop.call]} (call ${stop.call})`;
    try {
      compare(scenario, whole, await play(scenario, createHarness, [stop]), stop);
    } catch (error) {
      throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
}

function compare(scenario: Scenario, whole: Play, stopped: Play, stop: Stop): void {
  scenario.check(stopped.end, true);
  const [reference] = whole.attempts as [Watch];
  const { ends = "same" } = scenario;
  if (ends === "checked") return;
  if (ends !== "same") {
    const at = reference.names.findIndex((name) => name.startsWith(ends.onceDecided));
    check(at >= 0, `there is no call ${ends.onceDecided}`);
    if (stop.call < at || (stop.call === at && stop.phase !== "after")) return;
  }
  assertSame(whole, stopped);
}

/** Throws unless a run that was stopped made the same calls and ended as the whole one. */
export function assertSame(whole: Play, stopped: Play): void {
  const reference = namesOf(whole, whole.attempts[0]);
  const last = namesOf(stopped, stopped.attempts.at(-1));
  const isReplayed = last[0] === reference[0];
  if (isReplayed) same(last, reference, "the calls");
  else
    check(
      isSubsequence(last, reference),
      `the calls are ${last.join()}, not in the order ${reference.join()}`,
    );
  const lost = new Set(stopped.attempts.flatMap((one) => [...one.lost]));
  const unsure = new Set(stopped.attempts.flatMap((one) => [...one.lost, ...one.announced]));
  for (const { toolCallId, outcome } of stopped.end.result.tools)
    if (lost.has(toolCallId))
      check(outcome === "unknown", `${toolCallId} is ${outcome}, and its outcome is not known`);
  same(
    comparable(stopped.end, unsure, isReplayed),
    comparable(whole.end, unsure, isReplayed),
    "the end",
  );
}

/** The names of an attempt's calls, which are the same for each id of the run. */
function namesOf({ end }: Play, attempt: Watch | undefined): string[] {
  const { runId } = end.result;
  return (attempt?.names ?? []).map((name) => name.replace(runId, "run"));
}
