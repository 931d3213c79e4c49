/** Scenarios: turns, tools and queues. */
import type { AgentMessage } from "../../agent/contract/agent-message.ts";
import { BowlineError } from "../../errors.ts";
import { check } from "../store/checks.ts";
import { calls, doing, ended, resultOf, slow } from "./parts.ts";
import type { Scenario, World } from "./scenario.ts";

const message = (content: string): AgentMessage => ({ role: "user", content, timestamp: 1 });
const three = (world: World): ReturnType<typeof slow>[] => [
  slow(world, "a", 30),
  slow(world, "b", 10),
  slow(world, "c", 20),
];
const never = { replay: "never" } as const;

export const toolScenarios: Readonly<Record<string, Scenario>> = {
  "one turn": { answers: ["Done."], check: ended("done", "Done.") },

  "three tools in parallel": {
    answers: [calls("a", "b", "c"), "Done."],
    tools: three,
    check: ended("done", "Done."),
  },

  "three tools one at a time": {
    answers: [calls("a", "b", "c"), "Done."],
    tools: three,
    config: () => ({ toolExecution: "sequential" }),
    check: ended("done", "Done."),
  },

  "three tools, two at a time": {
    answers: [calls("a", "b", "c"), "Done."],
    tools: three,
    config: () => ({ maxParallelTools: 2 }),
    check: ended("done", "Done."),
  },

  "tools that must not be repeated": {
    answers: [calls("a", "b", "c"), calls("d"), "Done."],
    tools: (world) => [
      slow(world, "a", 30, never),
      slow(world, "b", 10),
      slow(world, "c", 20, never),
      slow(world, "d", 5, never),
    ],
    check: ended("done", "Done."),
  },

  "tools that must not be repeated, one at a time": {
    answers: [calls("a", "b"), "Done."],
    tools: (world) => [slow(world, "a", 30, never), slow(world, "b", 10, never)],
    config: () => ({ toolExecution: "sequential" }),
    check: ended("done", "Done."),
  },

  "a tool that throws": {
    answers: [calls("a", "b"), "Done."],
    tools: (world) => [
      doing("a", () => {
        throw new Error("no disk");
      }),
      slow(world, "b", 10),
    ],
    check(end) {
      ended("done", "Done.")(end);
      resultOf(end, "a", "no disk");
    },
  },

  "a tool that ends the run": {
    answers: [calls("a")],
    tools: () => [
      {
        ...doing("a", () => undefined),
        execute: () => ({ content: [{ type: "text", text: "a ran" }], terminate: true }),
      },
    ],
    check: ended("done"),
  },

  "an unknown tool": {
    answers: [calls("z"), "Done."],
    check(end) {
      ended("done", "Done.")(end);
      resultOf(end, "z", "not found");
    },
  },

  "steering and a follow-up during tools": {
    answers: [calls("a"), calls("b"), "Done.", "And this."],
    tools: (world) => [
      doing("a", () => world.once("steer", () => world.harness.push("steering", message("Wait.")))),
      doing("b", () => world.once("add", () => world.harness.push("followUp", message("More.")))),
    ],
    check(end) {
      ended("done", "And this.")(end);
      const said = end.messages.filter(({ role }) => role === "user").map(({ content }) => content);
      check(
        JSON.stringify(said) === '["Go.","Wait.","More."]',
        `the messages of the user are ${JSON.stringify(said)}`,
      );
    },
  },

  "a steering message that skips calls": {
    answers: [calls("a", "b"), "Done."],
    tools: (world) => [
      doing("a", () => world.once("steer", () => world.harness.push("steering", message("Stop.")))),
      slow(world, "b", 10),
    ],
    config: () => ({ maxParallelTools: 1, skipToolsOnSteering: true }),
    // If the attempt stopped before the message was taken, the next one skips the first call too.
    ends: "checked",
    check(end) {
      ended("done", "Done.")(end);
      resultOf(end, "b", "a new message from the user");
    },
  },

  "another key after a refused one": {
    answers: (world) => [
      (_, { apiKey }) =>
        apiKey === "new"
          ? "Done."
          : { error: new BowlineError("authentication_failed", `No to ${world.attempt}.`) },
    ],
    config() {
      const keys = ["old", "new"];
      return { getApiKey: () => keys.shift() };
    },
    check: ended("done", "Done."),
  },

  "a provider that fails": {
    answers: [calls("a"), { error: new BowlineError("overloaded", "Too busy.") }],
    tools: (world) => [slow(world, "a", 10)],
    check: ended("error"),
  },
};
