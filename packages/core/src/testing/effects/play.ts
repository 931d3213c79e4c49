/** Plays a scenario: whole, and stopped at each moment. */
import { sleep, type Clock } from "../../clock.ts";
import type { AgentMessage } from "../../agent/contract/agent-message.ts";
import { createLlmFilter } from "../../agent/llm-filter.ts";
import type { StreamFn } from "../../llm/model.ts";
import { createScriptedModel } from "../scripted-model.ts";
import { check, same } from "../store/checks.ts";
import { atRest, CaseClock } from "./case-clock.ts";
import type { EffectsHarness } from "./harness.ts";
import type { End, Scenario, World } from "./scenario.ts";
import { comparable, isSubsequence } from "./comparable.ts";
import { Watch, type History, type Stop } from "./watch.ts";

const prompt: AgentMessage = { role: "user", content: "Go.", timestamp: 1 };
/** Longer than any wait of a scenario, in turns of the event loop without progress. */
const MAX_IDLE = 2000;

/** One play of a scenario: its end, and the calls of each attempt. */
export interface Play {
  readonly end: End;
  readonly attempts: readonly Watch[];
  readonly history: History;
}

type CreateHarness = () => EffectsHarness | Promise<EffectsHarness>;

/** Plays the scenario with these stops, each in the attempt of its place. */
export async function play(
  scenario: Scenario,
  createHarness: CreateHarness,
  stops: readonly Stop[] = [],
): Promise<Play> {
  const harness = await createHarness();
  const { replays } = harness;
  const history: History = {
    replays,
    recorded: new Set(),
    begun: new Map(),
    announced: new Set(),
    faults: [],
  };
  const clock = new CaseClock();
  const done = new Map<string, Promise<unknown>>();
  const from = clock.now();
  const attempts: Watch[] = [];
  try {
    for (const stop of [...stops, undefined]) {
      const watch = new Watch(history, stop);
      attempts.push(watch);
      const running = start(scenario, harness, { watch, clock, done, attempt: attempts.length });
      const ended = await drive(running, watch, harness, clock);
      check(history.faults.length === 0, history.faults.join("; "));
      if (ended === undefined) {
        clock.pass(scenario.downtimeMs ?? 0);
        continue;
      }
      check(stop === undefined, `attempt ${attempts.length} ended before call ${stop?.call}`);
      const elapsed = clock.now() - from;
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

interface Parts {
  readonly watch: Watch;
  readonly clock: CaseClock;
  readonly done: Map<string, Promise<unknown>>;
  readonly attempt: number;
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
  }: Omit<Parts, "watch" | "attempt"> & Pick<Play, "attempts" | "history">,
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

function start(
  scenario: Scenario,
  harness: EffectsHarness,
  { watch, clock, done, attempt }: Parts,
): ReturnType<EffectsHarness["attempt"]> {
  const { stopped } = watch;
  const view: Clock = harness.clock ?? clock.view(stopped);
  const script = createScriptedModel([]);
  const world: World = {
    attempt,
    harness,
    clock: view,
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
    watch: watch.watch,
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
    const step = list[count];
    const script = createScriptedModel(step === undefined ? [] : [step], { deltaLength: 1000 });
    return script.streamFn(model, context, options);
  };
}

/** Lets time pass until the attempt ends. Resolves with undefined when it is stopped. */
async function drive<T>(
  running: Promise<T>,
  watch: Watch,
  harness: EffectsHarness,
  clock: CaseClock,
): Promise<T | undefined> {
  let isOver = false;
  const over = (): void => void (isOver = true);
  const stopped = watch.reached.then(() => undefined);
  const first = Promise.race([running, stopped]);
  first.then(over, over);
  running.catch(() => {}); // that of a stopped attempt
  for (let idle = 0; idle < MAX_IDLE; idle++) {
    await atRest();
    // The work of another medium takes turns of the event loop too.
    if (!harness.replays) await new Promise((resolve) => setTimeout(resolve));
    if (isOver) return first;
    const isWorking = harness.isBusy?.() === true || harness.clock !== undefined;
    if (!isWorking) clock.step();
    else if (idle % 8 === 7) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error(`The run hangs after the calls ${watch.names.join(", ")}.`);
}

/** Plays the scenario whole, and then once for each stop. */
export async function playAll(scenario: Scenario, createHarness: CreateHarness): Promise<void> {
  const whole = await play(scenario, createHarness);
  scenario.check(whole.end, false);
  const [reference] = whole.attempts as [Watch];
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
  const [reference] = whole.attempts as [Watch];
  const last = stopped.attempts.at(-1);
  const isReplayed = last?.names[0] === reference.names[0];
  if (isReplayed) same(last?.names, reference.names, "the calls");
  else
    check(
      isSubsequence(last?.names ?? [], reference.names),
      `the calls are ${last?.names.join()}, not in the order ${reference.names.join()}`,
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
