/**
 * Measures whether cost grows with the length of a run: compares the last tenth of a long run with
 * the first. Also measures how long timers are delayed.
 */
import { Agent, defineTool, type AgentEvent } from "../packages/core/src/agent/index.ts";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedStep,
} from "../packages/core/src/testing/index.ts";
import { median } from "./median.ts";

const ROUNDS = 15;

const noop = defineTool({
  name: "noop",
  description: "Nothing",
  parameters: { type: "object", properties: { text: { type: "string" } } },
  execute: () => "ok",
});

interface Case {
  readonly name: string;
  readonly steps: () => ScriptedStep[];
  readonly deltaLength: number;
  /** The number of events for which `counts` returns true. */
  readonly units: number;
  readonly counts: (event: AgentEvent) => boolean;
}

const isDelta =
  (type: "text_delta" | "toolcall_delta") =>
  (event: AgentEvent): boolean =>
    event.type === "message_update" && event.assistantMessageEvent.type === type;

const cases: readonly Case[] = [
  {
    name: "100,000 text deltas",
    steps: () => ["x".repeat(100_000)],
    deltaLength: 1,
    units: 100_000,
    counts: isDelta("text_delta"),
  },
  {
    name: "500 kB of arguments in 20-byte deltas",
    steps: () => [{ content: [scriptedToolCall("noop", { text: "x".repeat(499_989) })] }, "Done."],
    deltaLength: 20,
    units: 25_000,
    counts: isDelta("toolcall_delta"),
  },
  {
    name: "400 turns of one tool",
    steps: () => [
      ...Array.from({ length: 400 }, (_, i) => ({
        content: [scriptedToolCall("noop", {}, `call_${i}`)],
      })),
      "Done.",
    ],
    deltaLength: 100,
    units: 400,
    counts: (event) => event.type === "turn_end" && event.toolResults.length > 0,
  },
  {
    name: "4,000 parallel no-op tools",
    steps: () => [
      {
        content: Array.from({ length: 4000 }, (_, i) => scriptedToolCall("noop", {}, `call_${i}`)),
      },
      "Done.",
    ],
    deltaLength: 100,
    units: 4000,
    counts: ({ type }) => type === "tool_execution_end",
  },
];

/**
 * Performs one run. Returns the milliseconds at each tenth of its units, and the longest delay of a
 * timer of 1 ms.
 */
async function measure({
  steps,
  deltaLength,
  units,
  counts,
}: Case): Promise<{ marks: number[]; starved: number }> {
  const script = createScriptedModel(steps(), { deltaLength });
  const agent = new Agent({
    initialState: { model: script.model, tools: [noop] },
    streamFn: script.streamFn,
  });
  const marks: number[] = [];
  let seen = 0;
  agent.subscribe((event) => {
    if (!counts(event)) return;
    if (seen % (units / 10) === 0) marks.push(performance.now());
    if (++seen === units) marks.push(performance.now());
  });
  let ticked = performance.now();
  let starved = 0;
  const tick = (): void => {
    starved = Math.max(starved, performance.now() - ticked);
    ticked = performance.now();
  };
  const timer = setInterval(tick, 1);
  const { reason } = await agent.prompt("Go");
  tick();
  clearInterval(timer);
  if (reason !== "done" || marks.length !== 11)
    throw new Error(`the run ended with ${reason} after ${seen} units`);
  return { marks, starved };
}

for (const one of cases) {
  for (let i = 0; i < 3; i++) await measure(one); // warm-up
  const rounds = [];
  for (let i = 0; i < ROUNDS; i++) rounds.push(await measure(one));
  const tenth = (marks: readonly number[], n: number): number =>
    (marks[n + 1] ?? 0) - (marks[n] ?? 0);
  const ratio = median(rounds.map(({ marks }) => tenth(marks, 9) / tenth(marks, 0)));
  const each = median(rounds.map(({ marks }) => ((marks[10] ?? 0) - (marks[0] ?? 0)) / one.units));
  const starved = median(rounds.map((round) => round.starved));
  console.log(
    `${one.name.padEnd(40)} ${(each * 1000).toFixed(2).padStart(8)} µs each   last tenth / first tenth ${ratio.toFixed(2)}   a 1 ms timer waited at most ${starved.toFixed(0)} ms`,
  );
}
