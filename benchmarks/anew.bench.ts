/**
 * What V8 undoes of its compiled code in a run of an agent, with a garbage collection before each,
 * as an idle server has them: code that does not outlive it is compiled anew in every run
 * (docs/decisions/0011-code-that-stays.md). Node's own functions are among them.
 */
import { spawnSync } from "node:child_process";
import { Agent, getModel, type Model } from "../packages/core/src/index.ts";
import { chatBody, generateBody, messagesBody, responsesBody } from "./bodies.ts";

const DELTAS = 5000;
const WARM_UP = 10;
const RUNS = 10;

const bodies = {
  "openai-chat": chatBody,
  "anthropic-messages": messagesBody,
  "openai-responses": responsesBody,
  "google-generate": generateBody,
};

type Api = keyof typeof bodies;

const { BENCH_ANEW: api } = process.env;
if (api === undefined) for (const each of Object.keys(bodies)) report(each);
else await answer(api as Api);

/** Runs after runs, told apart by a line each. */
async function answer(wire: Api): Promise<void> {
  const chunks = bodies[wire](DELTAS);
  const fetch = async (): Promise<Response> =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const chunk of chunks) controller.enqueue(chunk);
          controller.close();
        },
      }),
    );
  const model: Model = { ...getModel("openai", "m"), api: wire };
  for (let run = 0; run < WARM_UP + RUNS; run++) {
    globalThis.gc?.();
    console.log(`run ${run}`);
    let deltas = 0;
    const agent = new Agent({ initialState: { model }, apiKey: "k", fetch });
    agent.subscribe(({ type }) => void (deltas += type === "message_update" ? 1 : 0));
    const { error } = await agent.prompt("Go.");
    if (error !== undefined || deltas < DELTAS) throw error ?? new Error(`${deltas} deltas`);
  }
}

function report(wire: string): void {
  const flags = ["--expose-gc", "--trace-deopt", "--conditions=@bowline/source"];
  const { stdout, status, stderr } = spawnSync(process.execPath, [...flags, import.meta.filename], {
    env: { ...process.env, BENCH_ANEW: wire },
    encoding: "utf8",
    maxBuffer: 1e9,
  });
  if (status !== 0) throw new Error(stderr);
  const counts = new Map<string, number>();
  for (const line of stdout.slice(stdout.indexOf(`run ${WARM_UP}\n`)).split("\n")) {
    const found =
      /(?:begin\. deoptimizing \S+ <JSFunction|marking dependent code .*<SharedFunctionInfo) ([^ >]*)/.exec(
        line,
      );
    if (found?.[1] !== undefined) counts.set(found[1], (counts.get(found[1]) ?? 0) + 1);
  }
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  const each = (count: number): string => (count / RUNS).toFixed(1);
  const names = sorted
    .slice(0, 8)
    .map(([name, count]) => `${name || "(anonymous)"} ${each(count)}`);
  const all = sorted.reduce((sum, [, count]) => sum + count, 0);
  console.log(`${wire.padEnd(20)} undone in a run: ${each(all)} (${names.join(", ")})`);
}
