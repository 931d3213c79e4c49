/** Engines that are wrong in one respect, which the kit of effects must notice. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentMessage, Effects, RunResult } from "../../src/agent/index.ts";
import { unknownOutcome } from "../../src/session/recorded-calls.ts";
import {
  createJournalHarness,
  effectsConformance,
  type AttemptSetup,
  type EffectsHarness,
} from "../../src/testing/index.ts";
import { within } from "../../../../test/support/within.ts";

/** How an engine differs from a right one. */
interface Fault extends Partial<Omit<EffectsHarness, "attempt">> {
  readonly effects?: (own: Effects, attempt: number) => Partial<Effects>;
  readonly result?: (attempt: number) => Partial<RunResult>;
  readonly messages?: (messages: readonly AgentMessage[]) => AgentMessage[];
  readonly attempt?: (setup: AttemptSetup, own: EffectsHarness) => Promise<RunResult>;
}

function harnessOf({ effects, result, messages, attempt, ...others }: Fault): EffectsHarness {
  const own = createJournalHarness();
  return {
    ...own,
    ...others,
    async attempt(setup) {
      const watch: AttemptSetup["watch"] = (right) =>
        setup.watch({ ...right, ...effects?.(right as Effects, setup.attempt) });
      const run = attempt ?? ((given) => own.attempt(given));
      return { ...(await run({ ...setup, watch }, own)), ...result?.(setup.attempt) };
    },
    async transcript() {
      const all = await own.transcript();
      return messages?.(all) ?? all;
    },
  };
}

/** Runs the cases of these runs. Returns the errors of the cases, "" for one that passes. */
async function errorsOf(
  create: () => Fault,
  runs?: readonly string[],
): Promise<Record<string, string>> {
  const errors: Record<string, string> = {};
  for (const { name, run } of effectsConformance(() => harnessOf(create()), { replays: true })) {
    const about = name.replace("survives a stop at each moment of ", "");
    if (runs?.includes(about) === false) continue;
    errors[about] = await within(name, run()).then(
      () => "",
      (error: unknown) => (error as Error).message,
    );
  }
  return errors;
}

const repeated = /ran again, although its result was recorded/;
const steering = "steering and a follow-up during tools";
const never = "tools that must not be repeated";
const tools = "three tools in parallel";
const other = "refuses to replay another order of names";
const allowed = "a call that a person allows";
const unanswered = "a call that nobody answers";
const aborts = [
  "an abort during the model's call",
  "an abort during tools",
  "an abort that a tool ignores",
];
const withoutText = [
  ...aborts,
  "a tool that ends the run",
  "a provider that fails",
  "a hook that ends the first attempt's run",
  "a budget of turns",
  "a budget of tokens on a server that reports none",
  "a budget of time",
  "a budget that the usage of a tool fills",
  "a budget that nested agents fill",
  "an output",
];

/** Engines, the error of the cases that notice it, and the runs of these cases. */
const faults: Record<string, [create: () => Fault, error: RegExp, runs: readonly string[]]> = {
  "loses the contents of results": [
    () => ({
      messages: (all) =>
        all.map((one) => (one.role === "toolResult" ? { ...one, content: [] } : one)),
    }),
    /^the result of (?:a|a2|b|z) is \[\], without "/,
    [
      "a tool that throws",
      "an unknown tool",
      "a steering message that skips calls",
      allowed,
      "a call that a person denies",
      "a tool allowed for the session",
      unanswered,
      "an answer that comes too late",
      "a time limit that passes between two attempts",
    ],
  ],
  "loses the results": [
    () => ({ messages: (all) => all.filter(({ role }) => role !== "toolResult") }),
    /^the result of a is "no result", without "/,
    ["a tool that throws", allowed],
  ],
  "loses the messages of its queues from the transcript": [
    () => ({ messages: (all) => all.filter(({ role }, at) => at === 0 || role !== "user") }),
    /^the messages of the user are \["Go\."\]$/,
    [steering],
  ],
  "counts other tokens": [
    () => ({ result: () => ({ usage: { totalTokens: 7 } }) }),
    /^the usage is 7/,
    ["a budget that the usage of a tool fills", "a compaction"],
  ],
  "counts other turns": [
    () => ({ result: () => ({ turns: 9 }) }),
    /^the run had 9 turns, not 3$/,
    ["a budget of tokens on a server that reports none"],
  ],
  "has another output": [
    () => ({ result: () => ({ output: { n: 2 } }) }),
    /^the output is \{"n":2\}$/,
    ["an output"],
  ],
  "does not abort": [() => ({ abort: () => {} }), /^the run ended as \w+, not as aborted/, aborts],
  "loses answers": [
    () => ({ answer: () => {} }),
    /^the result of a is .*no answer in time/,
    [allowed],
  ],
  "loses messages for the run": [
    () => ({ push: () => {} }),
    /^the run ended as|^the text is|^the messages of the user are/,
    [steering],
  ],
  "waits without a time limit": [
    () => ({
      effects: (own) => ({
        waitFor: (name, options) => own.waitFor(name, { ...options, until: undefined }),
      }),
    }),
    /^The run hangs after the calls inbox:steering:0, model:0, ask:1:a, wait:run:1:a\.$/,
    [unanswered],
  ],
  "waits longer than it should": [
    () => ({
      effects: (own) => ({
        waitFor: (name, { until = 0, ...more } = {}) =>
          own.waitFor(name, { until: until + 500, ...more }),
      }),
    }),
    /^the run took 1500 ms, more than 1000$/,
    [unanswered],
  ],
  "ignores the grace period of an abort": [
    () => ({
      attempt: (setup, own) =>
        own.attempt({ ...setup, config: { ...setup.config, abortGraceMs: 60_000 } }),
    }),
    /^the run took 5000 ms, more than 1000$/,
    ["an abort that a tool ignores"],
  ],
  "never ends": [
    () => ({ attempt: () => new Promise(() => {}) }),
    /^The run hangs after the calls \.$/,
    ["one turn"],
  ],
  "changes the calls of its transcript after a stop": [
    () => {
      let attempts = 0;
      const changed = { type: "toolCall", id: "a", name: "a", arguments: { other: 1 } } as const;
      return {
        canRepeat: false,
        result: (attempt) => {
          attempts = attempt;
          return {};
        },
        messages: (all) =>
          all.map((one) =>
            one.role === "assistant" && attempts > 1 && one.stopReason === "toolUse"
              ? { ...one, content: [changed] }
              : one,
          ),
      };
    },
    /^stopped \w+ \S+ \(call \d+\): the end is /,
    [tools],
  ],
  "runs recorded steps again": [
    () => ({
      effects: (own, attempt) => ({
        async step(name, work, about) {
          const result = await own.step(name, work, about);
          if (attempt > 1) await work();
          return result;
        },
      }),
    }),
    repeated,
    [tools],
  ],
  "runs everything again in each attempt": [
    () => ({
      attempt: (setup) => createJournalHarness().attempt(setup),
    }),
    repeated,
    [tools],
  ],
  "repeats a tool that must not be repeated": [
    () => ({
      effects: (own) => ({
        step: (name, work, about) =>
          own.step(name, work, about.kind === "tool" ? { ...about, replay: "safe" } : about),
      }),
    }),
    /^stopped worked tool:\S+ \(call \d+\): tool:\S+ ran again, although it must not be repeated/,
    [never, "tools that must not be repeated, one at a time"],
  ],
  "invents the result of a tool that must not be repeated": [
    () => {
      const begun = new Set<string>();
      return {
        effects: (own) => ({
          step(name, work, about) {
            if (about.kind !== "tool" || about.replay === "safe")
              return own.step(name, work, about);
            const invented = { ...unknownOutcome(about), outcome: "finished" } as never;
            const isBegun = begun.has(name);
            const begin = async (): Promise<never> => {
              begun.add(name);
              return (await work()) as never;
            };
            return own.step(name, isBegun ? async () => invented : begin, {
              ...about,
              replay: "safe",
            });
          },
        }),
      };
    },
    /^stopped \w+ tool:\S+ \(call \d+\): [a-d] is finished, and its outcome is not known$/,
    [never],
  ],
  "does not know the outcome of a tool that may be repeated": [
    () => {
      const known = new Map<string, number>();
      return {
        effects: (own, attempt) => ({
          step(name, work, about) {
            const isFirst = (known.get(name) ?? attempt) === attempt;
            if (isFirst) known.set(name, attempt);
            const isUnknown = about.kind === "tool" && !isFirst;
            return own.step(
              name,
              isUnknown ? async () => unknownOutcome(about) as never : work,
              about,
            );
          },
        }),
      };
    },
    /^stopped \w+ tool:\S+ \(call \d+\): the end is /,
    [tools],
  ],
  "decides again in each attempt": [
    () => ({
      effects: (own) => ({
        async decide(name, work) {
          await own.decide?.(name, work);
          return work();
        },
      }),
    }),
    /^The record has "\S+" as call \d+, and the loop made "\S+"\.$|^the calls of the run when it is replayed whole is /,
    [
      "a hook that refuses in the first attempt only",
      "a tool that needs approval in the first attempt only",
      "arguments that do not fit in the first attempt",
      "a hook that ends the first attempt's run",
    ],
  ],
  "ends otherwise when it replays all of a run": [
    () => ({ result: (attempt) => (attempt > 1 ? { text: "Other." } : {}) }),
    /^the result of the run when it is replayed whole is /,
    ["one turn"],
  ],
  "makes no calls when it replays all of a run": [
    () => ({
      attempt: async (setup, own) =>
        setup.attempt === 1 ? own.attempt(setup) : ({ runId: "run" } as RunResult),
    }),
    /^the calls of the run when it is replayed whole is \[\], expected \[/,
    ["one turn"],
  ],
  "accepts another order of names": [
    () => ({
      effects: (own) => {
        let steps = 0;
        return { step: (_, work, about) => own.step(`step ${steps++}`, work, about) };
      },
    }),
    /^the run went on, although its record has another step$/,
    [other],
  ],
  "refuses another order of names without a reason": [
    () => ({
      attempt: (setup, own) =>
        own.attempt(setup).catch(() => {
          throw new Error("no");
        }),
    }),
    /^the error does not name the call "a step of another program": no$/,
    [other],
  ],
  "runs a step before it looks at its name": [
    () => {
      const known = new Set<string>();
      return {
        effects: (own, attempt) => ({
          async step(name, work, about) {
            if (attempt > 1 && !known.has(name)) await work();
            known.add(name);
            return own.step(name, work, about);
          },
        }),
      };
    },
    /^a step ran that is not in the record$/,
    [other],
  ],
  "does not let the case watch its effects": [
    () => ({ attempt: (setup, own) => own.attempt({ ...setup, watch: (effects) => effects }) }),
    /^the run called no effect that went through watch\(\)$/,
    ["one turn"],
  ],
};

describe("the kit of effects", () => {
  it("fails in each case for an engine whose runs end for another reason", async () => {
    const errors = await errorsOf(() => ({ result: () => ({ reason: "length" }) }));
    for (const [name, error] of Object.entries(errors))
      assert.match(error, /^the run ended as length, not as \w+: /, name);
  });

  it("fails for an engine whose runs have another text, where the case has one", async () => {
    const runs = effectsConformance(createJournalHarness, { replays: true })
      .map(({ name }) => name.replace("survives a stop at each moment of ", ""))
      .filter((run) => !withoutText.includes(run));
    assert.equal(runs.length, 24);
    const errors = await errorsOf(() => ({ result: () => ({ text: "Other." }) }), runs);
    for (const run of runs)
      assert.match(errors[run] ?? "", /^the text is "Other\.", not "[\w .]+"$/, run);
  });

  for (const [what, [create, error, runs]] of Object.entries(faults))
    it(`fails for an engine that ${what}`, async () => {
      const errors = await errorsOf(create, runs);
      assert.deepEqual(Object.keys(errors).toSorted(), runs.toSorted());
      for (const run of runs) assert.match(errors[run] ?? "", error, run);
    });

  it("disposes of each harness, also when a case fails", async () => {
    for (const reason of ["done", "length"] as const) {
      const counts = { made: 0, disposed: 0 };
      const cases = effectsConformance(
        () => {
          counts.made++;
          return harnessOf({ result: () => ({ reason }), dispose: () => counts.disposed++ });
        },
        { replays: true },
      );
      const chosen = cases.filter(({ name }) => /one turn$|another order/.test(name));
      assert.equal(chosen.length, 2);
      await Promise.allSettled(chosen.map(({ run }) => run()));
      assert.deepEqual(counts, { made: counts.made, disposed: counts.made });
      assert.ok(counts.made >= 2);
    }
  });

  it("rejects an exception for a case that passes, fails otherwise or does not exist", async () => {
    const run = (fault: Fault, failure: string): Promise<void> | undefined => {
      const exceptions = { "one turn": { reason: "for a test", failure } };
      const cases = effectsConformance(() => harnessOf(fault), { replays: true, exceptions });
      return cases.find(({ name }) => name === "cannot do one turn: for a test")?.run();
    };
    const refusing: Fault = { result: () => ({ reason: "length" }) };
    assert.equal(await run(refusing, "ended as length"), undefined);
    await assert.rejects(run({}, "ended as length") ?? Promise.resolve(), {
      message: "the case passes, and needs no exception",
    });
    await assert.rejects(run(refusing, "no disk") ?? Promise.resolve(), {
      message: /^the case fails otherwise than with "no disk": the run ended as length/,
    });
    const exceptions = { "two turns": { reason: "for a test", failure: "" } };
    assert.throws(() => effectsConformance(createJournalHarness, { replays: true, exceptions }), {
      code: "invalid_argument",
      message: /^There is no case "two turns"\. There are: one turn; three tools in parallel; /,
    });
  });
});
