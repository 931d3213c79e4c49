/** Runs pass core's cases of effects, over the engine and the store in memory. */
import { describe, it } from "node:test";
import { effectsConformance, type EffectsHarness } from "@bowline/core/testing";
import { Agent, type Clock, type RunResult } from "@bowline/core";
import type { AgentMessage } from "@bowline/core/agent";
import type { SessionMessage } from "@bowline/core/session";
import { readOptions } from "../src/options.ts";
import { Adoptions } from "../src/run/adoptions.ts";
import { runAttempt } from "../src/run/attempt.ts";
import { exceptions } from "./effects-exceptions.ts";
import { FakeEngine } from "./fake-engine.ts";
import { createFakeStore } from "./fake-store.ts";

function createHarness(): EffectsHarness {
  const engine = new FakeEngine("s");
  const store = createFakeStore();
  const answers = new Map<string, object>();
  let pushed = 0;
  const answerOpen = (name: string): void => {
    const question = engine.state.get(`ask:${name}`) as { awakeableId: string } | undefined;
    const answer = answers.get(name);
    if (question && answer) engine.resolve(question.awakeableId, answer);
  };
  engine.onSet = (name) => answerOpen(name.slice("ask:".length));
  return {
    replays: true,
    canRepeat: true,
    async attempt({ config, prompt, tools, streamFn, output, watch, onWait, stopped }) {
      const { clock, model, ...hooks } = config;
      engine.clock = clock as Clock;
      const context = engine.begin();
      stopped.addEventListener("abort", () => context.end());
      const queues = { steeringMode: "all", followUpMode: "all" } as const;
      const settings = readOptions({
        store,
        createAgent: () => new Agent({ ...hooks, ...queues, model, streamFn, tools }),
        outputOf: () => output,
      });
      let result: RunResult | undefined;
      const probe = {
        clock: engine.clock,
        rest: atRest,
        onResult: (given: RunResult) => void (result = given),
        watch: (effects: Parameters<typeof watch>[0]) =>
          watch({
            ...effects,
            waitFor(name: string, options) {
              const answer = effects.waitFor?.<never>(name, options);
              onWait(name);
              return answer as Promise<never>;
            },
          } satisfies typeof effects) as never,
      };
      const input = { messageId: "prompt", message: prompt as SessionMessage, runId: "run" };
      store.session.accept(input);
      // The process died with its steps.
      const ran = runAttempt(context, { ...settings, probe }, new Adoptions(0), input);
      const outcome = await Promise.race([ran, context.failed]);
      if (result === undefined) throw new Error(`The run is ${outcome.state}.`);
      return result;
    },
    answer(name, value) {
      answers.set(name, { ...(value as object), at: engine.clock.now() });
      answerOpen(name);
    },
    async push(queue, message) {
      await store.durable.push("s", { id: String(pushed++), queue, message });
    },
    abort: () => engine.cancel(),
    transcript: () =>
      store.session.entries.flatMap((entry) =>
        entry.type === "message" ? [(entry as unknown as { message: AgentMessage }).message] : [],
      ),
    isBusy: () => engine.isBusy,
  };
}

/** Lets everything run that needs no timer and no I/O, as the clock of the cases does. */
async function atRest(): Promise<void> {
  for (let hop = 0; hop < 100; hop++) await Promise.resolve();
}

describe("the effects of a run", () => {
  for (const { name, run } of effectsConformance(createHarness, { replays: true, exceptions }))
    it(name, run);
});
