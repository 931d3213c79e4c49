/**
 * Whether following a value costs more the longer it is: 500 kB of arguments in 20-byte deltas, in
 * tenths, the last beside the first. `npm run bench -- partial`.
 */
import { partialArguments } from "../packages/core/src/partial/index.ts";
import {
  Agent,
  AgentStream,
  defineTool,
  type AgentEvent,
} from "../packages/core/src/agent/index.ts";
import { GrowingJson } from "../packages/core/src/partial/growing-json.ts";
import { createScriptedModel, scriptedToolCall } from "../packages/core/src/testing/index.ts";
import { median } from "./median.ts";

const ROUNDS = 7;
const LENGTH = 500_000;
const DELTA = 20;

const file = defineTool({
  name: "file",
  description: "Writes a file",
  parameters: {
    type: "object",
    properties: {
      text: { type: "string" },
      rows: {
        type: "array",
        items: {
          type: "object",
          properties: { id: { type: "integer" }, kind: { enum: ["a", "b"] } },
        },
      },
    },
  },
  execute: () => "ok",
});

const shapes: Readonly<Record<string, Record<string, unknown>>> = {
  "one long string": { text: "x".repeat(LENGTH - 11) },
  "one string of escapes": { text: '"\n'.repeat((LENGTH - 11) / 4) },
  "many small objects": {
    rows: Array.from({ length: 19_200 }, (_, id) => ({ id: 10_000 + id, kind: "a" })),
  },
};

/** Milliseconds at each tenth of the fragments, parsed alone. */
function parse(text: string): number[] {
  const marks = [performance.now()];
  const json = new GrowingJson({ mode: "arguments" });
  const count = Math.floor(text.length / DELTA);
  for (let at = 0; at < count; at++) {
    json.write(text.slice(at * DELTA, (at + 1) * DELTA));
    if ((at + 1) % Math.floor(count / 10) === 0) marks.push(performance.now());
  }
  return marks.slice(0, 11);
}

/** Milliseconds at each tenth of the text, from the events of a run. */
async function follow(args: Record<string, unknown>): Promise<number[]> {
  const script = createScriptedModel([{ content: [scriptedToolCall("file", args)] }, "Done."], {
    deltaLength: DELTA,
  });
  const agent = new Agent({ model: script.model, tools: [file], streamFn: script.streamFn });
  const tenth = Math.floor(JSON.stringify(args).length / DELTA / 10);
  const marks: number[] = [];
  let seen = 0;
  const run = new AgentStream(agent, "Go", { maxHeldEvents: 1_000_000 });
  /** The events as the reader takes them. */
  async function* taken(): AsyncGenerator<AgentEvent> {
    for await (const event of run) {
      yield event;
      const isDelta =
        event.type === "message_update" && event.assistantMessageEvent.type === "toolcall_delta";
      if (!isDelta) continue;
      if (seen === 0 || ++seen % tenth === 0) marks.push(performance.now());
      seen ||= 1;
    }
  }
  for await (const event of partialArguments(taken(), file))
    if (event.type === "partial_end" && event.arguments === undefined)
      throw new Error(event.message);
  const { reason } = await run.result();
  if (reason !== "done") throw new Error(`the run ended with ${reason}`);
  return marks.slice(0, 11);
}

for (const [name, args] of Object.entries(shapes)) {
  const text = JSON.stringify(args);
  await report(`${name}, the parser`, text.length, () => parse(text));
  await report(`${name}, a run`, text.length, () => follow(args));
}

async function report(
  name: string,
  length: number,
  measure: () => number[] | Promise<number[]>,
): Promise<void> {
  for (let i = 0; i < 3; i++) await measure(); // warm
  const rounds: number[][] = [];
  for (let i = 0; i < ROUNDS; i++) rounds.push(await measure());
  const tenth = (marks: readonly number[], n: number): number =>
    (marks[n + 1] ?? 0) - (marks[n] ?? 0);
  const ratio = median(rounds.map((marks) => tenth(marks, 9) / tenth(marks, 0)));
  const each = median(
    rounds.map((marks) => ((marks[10] ?? 0) - (marks[0] ?? 0)) / (length / DELTA)),
  );
  console.log(
    `${`${Math.round(length / 1000)} kB: ${name}`.padEnd(44)} ${(each * 1000).toFixed(2).padStart(8)} µs each   last tenth / first tenth ${ratio.toFixed(2)}`,
  );
}
