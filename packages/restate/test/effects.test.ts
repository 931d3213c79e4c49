/** The effects of a run pass core's cases, over the engine in memory. */
import { describe, it } from "node:test";
import { effectsConformance, type EffectsHarness } from "@bowline/core/testing";
import { createOutputRun, runLoop, type AgentMessage, type RunInput } from "@bowline/core/agent";
import { Adoptions } from "../src/run/adoptions.ts";
import { createRunEffects } from "../src/run/effects.ts";
import { Journal } from "../src/run/journal.ts";
import { SessionLog } from "../src/run/session-log.ts";
import { Transcript } from "../src/run/transcript.ts";
import { FakeEngine } from "./fake-engine.ts";
import { createFakeStore } from "./fake-store.ts";

function createHarness(): EffectsHarness {
  const engine = new FakeEngine("s");
  const store = createFakeStore();
  const answers = new Map<string, object>();
  let messages: AgentMessage[] = [];
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
      const { clock } = config;
      if (clock === undefined) throw new Error("The case has no clock.");
      engine.clock = clock;
      const context = engine.begin();
      stopped.addEventListener("abort", () => context.end());
      const epoch = await store.durable.takeEpoch("s");
      const controller = new AbortController();
      const journal = new Journal(
        context,
        () => controller.abort(),
        () => clock.now(),
        atRest,
      );
      const runId = await journal.record("run", () => Promise.resolve("run"));
      const { ended } = context;
      const { durable } = store;
      const log = new SessionLog({ durable, sessionId: "s", epoch, retryMs: 0, ended });
      const transcript = new Transcript(runId, [], () => journal.now);
      const { effects } = createRunEffects({
        runId,
        journal,
        log,
        transcript,
        adoptions: new Adoptions(0), // the process died with its steps
        owner: { controller, ended },
        modes: { steering: "all", followUp: "all" },
        taken: [],
        approvedTools: new Set(),
        maxResultBytes: 1e6,
        load: () => Promise.reject(new Error("No result is that large.")),
        source: { sessionId: "s", runId, attempt: epoch, isRepeated: false },
        onEvent: () => {},
      });
      const watched = watch({
        ...effects,
        waitFor(name: string, options) {
          const answer = effects.waitFor<never>(name, options);
          onWait(name);
          return answer;
        },
      } satisfies typeof effects);
      messages = [];
      transcript.follow(messages);
      const given = { ...config, createId: () => runId };
      const input: RunInput = {
        context: { systemPrompt: "", messages, tools },
        config: () => given,
        effects: watched,
        streamFn,
        signal: controller.signal,
      };
      const forOutput = output === undefined ? undefined : createOutputRun(output, input);
      const running = runLoop([prompt], forOutput?.input ?? input);
      const result = await Promise.race([running, context.failed]);
      return forOutput === undefined ? result : forOutput.finish(result);
    },
    answer(name, value) {
      answers.set(name, { ...(value as object), at: engine.clock.now() });
      answerOpen(name);
    },
    async push(queue, message) {
      await store.durable.push("s", { id: String(pushed++), queue, message });
    },
    abort: () => engine.cancel(),
    transcript: () => messages,
    isBusy: () => engine.isBusy,
  };
}

/** Lets everything run that needs no timer and no I/O, as the clock of the cases does. */
async function atRest(): Promise<void> {
  for (let hop = 0; hop < 100; hop++) await Promise.resolve();
}

/** The inbox is in a database, and cannot tell at once whether a message waits. */
const left = /a steering message that skips calls/;

describe("the effects of a run", () => {
  for (const { name, run } of effectsConformance(createHarness, { replays: true }))
    it(name, { skip: left.test(name) }, run);
});
