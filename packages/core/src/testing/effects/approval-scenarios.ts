/** Scenarios: persons, hooks and aborts. */
import { requireApproval } from "../../agent/approval.ts";
import type { StandardSchema } from "../../schema.ts";
import { check } from "../store/checks.ts";
import { calls, doing, ended, resultOf, slow } from "./parts.ts";
import type { Scenario, World } from "./scenario.ts";

const LIMIT = 1000;
const asked = {
  answers: [calls("a"), "Done."],
  tools: (world: World) => [slow(world, "a", 10)],
  config: () => ({ beforeToolCall: requireApproval({ timeoutMs: LIMIT }) }),
};
/** The same, with time for an answer to arrive through the medium. */
const answered = {
  ...asked,
  config: ({ overheadMs }: World) => ({
    beforeToolCall: requireApproval({ timeoutMs: LIMIT + overheadMs }),
  }),
};

function isWithin(elapsed: number, limit: number): void {
  check(elapsed <= limit, `the run took ${elapsed} ms, more than ${limit}`);
}

/** A schema whose check answers otherwise in each attempt. */
function fickleSchema({ attempt }: World): StandardSchema {
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: async (value) =>
        attempt === 1 ? { issues: [{ message: "not in the first attempt" }] } : { value },
      jsonSchema: { input: () => ({ type: "object", properties: {} }) },
    },
  };
}

export const approvalScenarios: Readonly<Record<string, Scenario>> = {
  "a call that a person allows": {
    ...answered,
    onWait: ({ harness }, name) => harness.answer(name, { decision: "allow", by: "Ann" }),
    check(end) {
      ended("done", "Done.")(end);
      resultOf(end, "a", "a ran");
    },
  },

  "a call that a person denies": {
    ...answered,
    onWait: ({ harness }, name) => harness.answer(name, { decision: "deny", reason: "too dear" }),
    check(end) {
      ended("done", "Done.")(end);
      resultOf(end, "a", "too dear");
    },
  },

  "a tool allowed for the session": {
    answers: [
      calls("a"),
      { content: [{ type: "toolCall", id: "a2", name: "a", arguments: {} }] },
      "Done.",
    ],
    tools: answered.tools,
    config: answered.config,
    onWait: ({ harness }, name) => harness.answer(name, { decision: "allow", remember: "session" }),
    check(end) {
      ended("done", "Done.")(end);
      resultOf(end, "a2", "a ran");
    },
    // A session forgets what was remembered, and asks again.
    only: "replays",
  },

  "a call that nobody answers": {
    ...asked,
    check(end) {
      ended("done", "Done.")(end);
      resultOf(end, "a", "no answer in time");
      isWithin(end.elapsed, LIMIT);
    },
  },

  "an answer that comes too late": {
    ...asked,
    // The first attempt asks, and dies. The answer comes after the time limit, while no attempt runs.
    onWait: (world, name) =>
      world.once(name, () =>
        world.sleep(LIMIT + 500).then(() => world.harness.answer(name, { decision: "allow" })),
      ),
    downtimeMs: 0,
    check(end) {
      ended("done", "Done.")(end);
      resultOf(end, "a", "no answer in time");
    },
  },

  "a time limit that passes between two attempts": {
    ...asked,
    downtimeMs: LIMIT + 500,
    onWait: (world, name) => world.attempt > 1 && world.harness.answer(name, { decision: "allow" }),
    check(end, wasStopped) {
      ended("done", "Done.")(end);
      if (!wasStopped) resultOf(end, "a", "no answer in time");
    },
    // Before the question was recorded, the next attempt asks it, and gets an answer in time.
    ends: { onceDecided: "ask:" },
    only: "replays",
  },

  "an abort during the model's call": {
    answers: (world) => [
      calls("a"),
      async () => {
        await world.harness.abort();
        await world.sleep(5000);
        return "Too late.";
      },
    ],
    tools: (world) => [slow(world, "a", 10)],
    config: () => ({ abortGraceMs: 100 }),
    check: ended("aborted"),
    ends: "checked",
  },

  "an abort during tools": {
    answers: [calls("a", "b")],
    tools: (world) => [
      doing("a", async (signal) => {
        await world.harness.abort();
        await world.sleep(5000, signal);
        signal.throwIfAborted();
      }),
      slow(world, "b", 50),
    ],
    config: () => ({ abortGraceMs: 100 }),
    check: ended("aborted"),
    ends: "checked",
  },

  "an abort that a tool ignores": {
    answers: [calls("a")],
    tools: (world) => [
      doing("a", async () => {
        await world.harness.abort();
        await world.sleep(5000);
      }),
    ],
    config: () => ({ abortGraceMs: 100 }),
    check(end) {
      ended("aborted")(end);
      isWithin(end.elapsed, 1000);
    },
    ends: "checked",
  },

  "a hook that refuses in the first attempt only": {
    answers: [calls("a", "b"), "Done."],
    tools: (world) => [slow(world, "a", 10), slow(world, "b", 5)],
    config: ({ attempt }) => ({
      beforeToolCall: async () =>
        attempt === 1 ? { block: true, reason: "by the rules of the day" } : undefined,
    }),
    check: ended("done", "Done."),
    ends: { onceDecided: "ask:1:b" },
    only: "replays",
  },

  "a tool that needs approval in the first attempt only": {
    answers: [calls("a"), "Done."],
    tools: (world) => [slow(world, "a", 10, { needsApproval: () => world.attempt === 1 })],
    check: ended("done", "Done."),
    ends: { onceDecided: "ask:" },
    only: "replays",
  },

  "arguments that do not fit in the first attempt": {
    answers: [calls("a"), "Done."],
    tools: (world) => [slow(world, "a", 10, { parameters: fickleSchema(world) })],
    check: ended("done", "Done."),
    ends: { onceDecided: "ask:" },
    only: "replays",
  },

  "a hook that ends the first attempt's run": {
    answers: [calls("a"), "Done."],
    tools: (world) => [slow(world, "a", 10)],
    config: ({ attempt }) => ({ shouldStopAfterTurn: async () => attempt === 1 }),
    check: ended("done"),
    ends: { onceDecided: "stop:" },
    only: "replays",
  },

  "settings that change between two attempts": {
    answers: [calls("a", "b"), "Done."],
    tools: (world) => [slow(world, "a", 10), slow(world, "b", 5)],
    config: ({ attempt }) => ({ toolExecution: attempt === 1 ? "sequential" : "parallel" }),
    check: ended("done", "Done."),
    ends: { onceDecided: "model:0" },
    only: "replays",
  },
};
