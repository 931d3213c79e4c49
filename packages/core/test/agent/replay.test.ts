/** What the loop does for effects that replay, beyond the cases of `effectsConformance`. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  Agent,
  createBudget,
  createCompaction,
  createLlmFilter,
  createMemoryEffects,
  isBowlineError,
  requireApproval,
  runLoop,
  type AgentMessage,
  type AgentTool,
  type Effects,
  type RunInput,
  type StepResult,
  type StandardSchema,
} from "@bowline/core";
import { createScriptedModel, type ScriptedStep } from "@bowline/core/testing";
import { call, hello, tool } from "../support.ts";
import { within } from "../../../../test/support/within.ts";

interface Given {
  readonly answers: readonly ScriptedStep[];
  readonly tools?: AgentTool[];
  readonly effects?: Partial<Effects>;
  readonly config?: object;
  readonly more?: Partial<RunInput>;
}

function inputOf({ answers, tools = [], effects, config = {}, more }: Given): RunInput {
  const { model, streamFn } = createScriptedModel(answers, { deltaLength: 1000 });
  const settings = { model, convertToLlm: createLlmFilter(), ...config };
  return {
    context: { systemPrompt: "", messages: [], tools },
    config: () => settings,
    effects: createMemoryEffects(effects),
    streamFn,
    ...more,
  };
}

const engine: Partial<Effects> = { patience: "none", decide: (_name, fn) => fn() };

function code(wanted: string): (error: unknown) => boolean {
  return (error) => isBowlineError(error) && error.code === wanted;
}

function resultText(messages: readonly { role: string; content?: unknown }[]): string {
  return JSON.stringify(messages.filter(({ role }) => role === "toolResult"));
}

describe("an attempt that is over", () => {
  it("publishes nothing more, calls no effect or hook, and rejects with aborted", async () => {
    const over = new AbortController();
    const seen: string[] = [];
    const running = runLoop(
      [hello],
      inputOf({
        answers: [call("a"), "Done."],
        tools: [
          tool("a", async () => {
            over.abort();
            await new Promise((resolve) => setTimeout(resolve, 5));
            seen.push("the tool ends");
            return "ran";
          }),
        ],
        config: { shouldStopAfterTurn: () => void seen.push("hook") },
        effects: {
          ended: over.signal,
          publish: ({ type }) => void (over.signal.aborted && seen.push(type)),
          inbox: (kind) => (over.signal.aborted && seen.push(`inbox ${kind}`), []),
        },
      }),
    );
    await within("the end", assert.rejects(running, code("aborted")));
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(seen, ["the tool ends"]);
  });

  it("passes on the events of steps that continue, apart from its own", async () => {
    const over = new AbortController();
    const late: unknown[] = [];
    const done = Promise.withResolvers<void>();
    const reporting: AgentTool = {
      ...tool("a", () => ""),
      async execute(_id, _args, _signal, onUpdate) {
        onUpdate?.({ content: [{ type: "text", text: "before" }] });
        over.abort();
        onUpdate?.({ content: [{ type: "text", text: "after" }] });
        done.resolve();
        return { content: [] };
      },
    };
    const running = runLoop(
      [hello],
      inputOf({
        answers: [call("a"), "Done."],
        tools: [reporting],
        effects: {
          ended: over.signal,
          publish: ({ type }) => assert.ok(!over.signal.aborted, type),
          publishLate: (event) =>
            void late.push(
              event.type === "tool_execution_update" ? event.partialResult.content : event.type,
            ),
        },
      }),
    );
    await assert.rejects(running, code("aborted"));
    await done.promise;
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(late, [[{ type: "text", text: "after" }]]);
  });

  it("does not begin when it is over already", async () => {
    const ended = AbortSignal.abort();
    const publish = (): void => assert.fail("published");
    await assert.rejects(
      runLoop([hello], inputOf({ answers: ["Hi."], effects: { ended, publish } })),
      code("aborted"),
    );
  });
});

describe("the record of a step", () => {
  it("has the usage that its tool added, and calls are announced only if they run", async () => {
    const usages: unknown[] = [];
    const announced: string[][] = [];
    const billing: AgentTool = {
      ...tool("b", () => ""),
      execute(_id, _args, _signal, _update, about) {
        for (const totalTokens of [3, 4]) about?.run.addUsage({ totalTokens });
        return { content: [] };
      },
    };
    const { usage } = await runLoop(
      [hello],
      inputOf({
        answers: [
          call("missing"),
          { content: [...call("a").content, ...call("b").content] },
          "Done.",
        ],
        tools: [tool("a", () => ""), billing],
        config: {
          beforeToolCall: ({ toolCall }: { toolCall: { name: string } }) =>
            toolCall.name === "a" ? { block: true } : undefined,
        },
        effects: {
          begin: async (calls) => void announced.push(calls.map(({ toolCallId }) => toolCallId)),
          async step(name, work) {
            const result = await work();
            if (name.startsWith("tool:")) usages.push(result.usage?.totalTokens);
            return result;
          },
        },
      }),
    );
    assert.deepEqual([usages, usage.totalTokens, announced], [[7], 7, [["b"]]]);
  });

  it("are told which calls start, each by itself when tools run one at a time", async () => {
    const told: string[] = [];
    await runLoop(
      [hello],
      inputOf({
        answers: [{ content: [...call("a").content, ...call("b").content] }, "Done."],
        tools: ["a", "b"].map((name) =>
          tool(name, () => {
            told.push(`${name} ran`);
            return "";
          }),
        ),
        config: { toolExecution: "sequential" },
        effects: {
          begin: async (calls) =>
            void told.push(`begin ${calls.map(({ toolName }) => toolName).join(" ")}`),
        },
      }),
    );
    assert.deepEqual(told, ["begin a", "a ran", "begin b", "b ran"]);
  });
});

describe("waits of a run whose engine has patience", () => {
  it("are refused in a tool, with what to do instead", async () => {
    const waiting = {
      ...tool("a", () => ""),
      execute: async (...given: unknown[]) => {
        const { run } = given[4] as { run: { waitFor(name: string): Promise<never> } };
        return run.waitFor("person");
      },
    };
    const { messages } = await runLoop(
      [hello],
      inputOf({ answers: [call("a"), "Done."], tools: [waiting], effects: engine }),
    );
    assert.match(resultText(messages), /Cannot wait for \\"person\\" in.*Return \\"ask\\"/);
  });

  it("happen outside the decision for an approval, with the recorded time limit", async () => {
    let isDeciding = false;
    const waits: unknown[] = [];
    const { messages } = await runLoop(
      [hello],
      inputOf({
        answers: [call("a"), "Done."],
        tools: [tool("a", () => "ran")],
        config: { beforeToolCall: requireApproval({ timeoutMs: 60_000 }), createId: () => "r" },
        effects: {
          ...engine,
          async decide(_name, fn) {
            isDeciding = true;
            return fn().finally(() => (isDeciding = false));
          },
          waitFor: async (name, options) => {
            waits.push([name, isDeciding, typeof options?.until]);
            return { decision: "allow" } as never;
          },
        },
      }),
    );
    assert.deepEqual(waits, [["r:1:a", false, "number"]]);
    assert.match(resultText(messages), /ran/);
  });

  it("blocks the call if a hook makes a refusal of the question", async () => {
    const ask = requireApproval();
    const { messages } = await runLoop(
      [hello],
      inputOf({
        answers: [call("a"), "Done."],
        tools: [tool("a", () => "ran")],
        config: {
          async beforeToolCall(...given: Parameters<typeof ask>) {
            const { block, reason } = (await ask(...given)) ?? {};
            return { block, reason };
          },
        },
        effects: engine,
      }),
    );
    assert.match(resultText(messages), /a person was not asked/);
  });
});

describe("a time limit of a wait", () => {
  it("rejects with timeout at its end, and leaves no timer or name", async () => {
    const memory = createMemoryEffects();
    await assert.rejects(memory.waitFor("a", { until: Date.now() + 5 }), code("timeout"));
    assert.equal(memory.answer("a", 1), false);
  });

  it("denies an answer that was given after it and is delivered later", async () => {
    const { model, streamFn } = createScriptedModel([call("a"), "Done."]);
    const agent = new Agent({
      model,
      streamFn,
      tools: [tool("a", () => "ran")],
      beforeToolCall: requireApproval({ timeoutMs: 60_000 }),
    });
    agent.subscribe((event) => {
      if (event.type !== "approval_request") return;
      const at = (event.expiresAt ?? 0) + 1;
      agent.answer(event.approvalId, { decision: "allow", at });
    });
    assert.match(resultText((await agent.prompt("Hi")).messages), /no answer in time/);
  });
});

describe("a run that is resumed", () => {
  const resume = { runId: "old", turns: 1 };

  it("keeps the end of its time budget and reports it", async () => {
    const deadlines: unknown[] = [];
    const deadline = Date.now() - 1;
    const { reason } = await runLoop(
      [hello],
      inputOf({
        answers: ["Hi."],
        config: { budget: { maxTimeMs: 60_000 } },
        effects: {
          publish: (event) => void (event.type === "agent_start" && deadlines.push(event.deadline)),
        },
        more: { resume: { ...resume, deadline } },
      }),
    );
    assert.equal(reason, "budget");
    assert.deepEqual(deadlines, [deadline]);
  });

  it("charges tokens that were estimated before", async () => {
    const budget = createBudget({ maxTokens: 1000 });
    const usage = { totalTokens: 100 };
    const input = inputOf({ answers: ["Hi."], config: { budget } });
    await runLoop([hello], { ...input, resume: { ...resume, usage, guess: 950 } });
    assert.equal(budget.used.tokens, 1050);
  });
});

describe("a recorded verdict about a call", () => {
  const dates: StandardSchema = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => ({ value: { at: new Date((value as { at: string }).at) } }),
      jsonSchema: { input: () => ({ type: "object", properties: { at: { type: "string" } } }) },
    },
  };

  it("gives the tool the values that JSON cannot represent, also on replay", async () => {
    const at = "2026-11-27T00:00:00.000Z";
    const records = new Map<string, string>();
    for (let attempt = 1; attempt <= 2; attempt++) {
      const got: unknown[] = [];
      const record = async <T>(name: string, fn: () => Promise<T>): Promise<T> => {
        if (!records.has(name)) records.set(name, JSON.stringify(await fn()));
        return JSON.parse(records.get(name) ?? "") as T;
      };
      const dated: AgentTool = {
        ...tool("a", () => ""),
        parameters: dates,
        execute: (_id, args) => (got.push(args), { content: [] }),
      };
      await runLoop(
        [hello],
        inputOf({
          answers: [
            { content: [{ type: "toolCall", id: "a", name: "a", arguments: { at } }] },
            "Done.",
          ],
          tools: [dated],
          effects: { ...engine, decide: record },
        }),
      );
      assert.deepEqual(got, [{ at: new Date(at) }], `attempt ${attempt}`);
    }
    assert.deepEqual(JSON.parse(records.get("ask:1:a") ?? ""), { value: { given: { at } } });
  });
});

describe("the verdict about a call", () => {
  const standard = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => ({ type: "object" }) },
    },
  } satisfies StandardSchema;
  const cases: readonly [string, Partial<AgentTool>, object, readonly string[]][] = [
    ["is not recorded for a tool without code that decides", {}, {}, []],
    ["is recorded for arguments that a schema's code checks", { parameters: standard }, {}, ["a"]],
    ["is recorded for beforeToolCall", {}, { beforeToolCall: () => undefined }, ["a"]],
    ["is recorded for needsApproval", { needsApproval: () => false }, {}, ["a"]],
    ["is recorded for prepareArguments", { prepareArguments: (args) => args }, {}, ["a"]],
  ];
  for (const [title, own, config, expected] of cases)
    it(title, async () => {
      const asked: string[] = [];
      const decide = <T>(name: string, fn: () => Promise<T>): Promise<T> => {
        if (name.startsWith("ask:")) asked.push(name.slice("ask:1:".length));
        return fn();
      };
      const tools = [{ ...tool("a", () => ""), ...own }];
      const effects = { ...engine, decide };
      await runLoop([hello], inputOf({ answers: [call("a"), "Done."], tools, config, effects }));
      assert.deepEqual(asked, expected);
    });
});

describe("a call that a budget refuses within its step", () => {
  it("is not charged, also on replay", async () => {
    const records = new Map<string, string>();
    const turns: number[] = [];
    for (let attempt = 1; attempt <= 2; attempt++) {
      const shared = createBudget({ maxTurns: 1 });
      await runLoop(
        [hello],
        inputOf({
          answers: ["Hi."],
          config: {
            budget: shared,
            transformContext(messages: never[]) {
              shared.used.turns = 1; // another run was faster
              return messages;
            },
          },
          effects: {
            async step<T extends StepResult>(name: string, fn: () => Promise<T>): Promise<T> {
              if (!records.has(name)) records.set(name, JSON.stringify(await fn()));
              return JSON.parse(records.get(name) ?? "") as T;
            },
          },
        }),
      );
      turns.push(shared.used.turns);
    }
    assert.deepEqual(turns, [1, 0]);
  });
});

describe("a step that is replayed from its record", () => {
  it("emits its compaction before its message, once, as the step did when it ran", async () => {
    const records = new Map<string, string>();
    const histories: string[][] = [];
    for (let attempt = 1; attempt <= 2; attempt++) {
      const compaction = createCompaction({ contextWindow: 60, reserveTokens: 10 });
      const seen: string[] = [];
      await runLoop(
        [{ ...hello, content: "word ".repeat(200) }, hello],
        inputOf({
          answers: ["Hi."],
          config: { transformContext: compaction.transformContext },
          effects: {
            publish: ({ type }) =>
              void (/compaction_end|message_end/.test(type) && seen.push(type)),
            async step<T extends StepResult>(name: string, fn: () => Promise<T>): Promise<T> {
              if (!records.has(name)) records.set(name, JSON.stringify(await fn()));
              return JSON.parse(records.get(name) ?? "") as T;
            },
          },
        }),
      );
      histories.push(seen);
    }
    const once = ["message_end", "message_end", "compaction_end", "message_end"];
    assert.deepEqual(histories, [once, once]);
  });

  it("names the transcript's own message as the first that was kept, and no copy of it", async () => {
    for (const isCopied of [false, true]) {
      const records = new Map<string, string>();
      const own: boolean[] = [];
      for (let attempt = 1; attempt <= 2; attempt++) {
        const { transformContext } = createCompaction({ contextWindow: 60, reserveTokens: 10 });
        const input = inputOf({
          answers: ["Hi."],
          config: {
            transformContext: (messages: AgentMessage[], ...more: never[]) =>
              transformContext(isCopied ? structuredClone(messages) : messages, ...more),
          },
          effects: {
            publish(event) {
              if (event.type === "compaction_end")
                own.push(input.context.messages[event.firstKeptIndex] === event.firstKept);
            },
            async step<T extends StepResult>(name: string, fn: () => Promise<T>): Promise<T> {
              if (!records.has(name)) records.set(name, JSON.stringify(await fn()));
              return JSON.parse(records.get(name) ?? "") as T;
            },
          },
        });
        await runLoop([{ ...hello, content: "word ".repeat(200) }, hello], input);
      }
      assert.deepEqual(own, [!isCopied, !isCopied]);
    }
  });
});
