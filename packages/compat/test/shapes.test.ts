/**
 * One scripted model gives the same transcript in four formats: Agent, karl, codelet and gai. Only
 * the wording of failures differs.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, defineTool, type AgentMessage, type AgentTool } from "@bowline/core/agent";
import * as codelet from "../src/codelet/index.ts";
import * as gai from "../src/gai/index.ts";
import * as karl from "../src/karl/index.ts";
import { BowlineError, isBowlineError, messageText, type AssistantContent } from "@bowline/core";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedModel,
  type ScriptedStep,
} from "@bowline/core/testing";

/** The work of a tool: it returns a text, returns an error, or throws. */
type Work = (args: { a: number; b: number }) => string | { error: string } | Promise<string>;

interface Scenario {
  readonly script: readonly ScriptedStep[];
  readonly tools?: Readonly<Record<string, Work>>;
  readonly abort?: AbortController;
}

interface Outcome {
  readonly transcript: readonly string[];
  /** `done`, or the code of the error. */
  readonly end: string;
  readonly modelCalls: number;
}

const schema = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: [],
} as const;
const strict = { ...schema, required: ["a", "b"] } as const;
const add: Work = ({ a, b }) => String(a + b);
const schemaOf = (name: string): typeof schema | typeof strict =>
  name === "add" ? strict : schema;

const shapes = {
  async agent({ script, tools = {}, abort }: Scenario) {
    const model = createScriptedModel(script);
    const initialState = { model: model.model, systemPrompt: "Be brief.", tools: toolsOf(tools) };
    const agent = new Agent({
      initialState,
      streamFn: model.streamFn,
      toolExecution: "sequential",
    });
    abort?.signal.addEventListener("abort", () => agent.abort());
    const { error, text } = await agent.prompt("Go");
    return outcome(model, error?.code, text);
  },

  async karl({ script, tools = {}, abort }: Scenario) {
    const model = createScriptedModel(script);
    const definitions = Object.entries(tools).map(([name, work]): karl.ToolDefinition => ({
      name,
      description: name,
      parameters: schemaOf(name),
      async execute(args) {
        const said = await work(args);
        if (typeof said === "string") return { content: [{ type: "text", text: said }] };
        return { content: [{ type: "text", text: said.error }], isError: true };
      },
    }));
    const config = {
      model: "m",
      baseUrl: "",
      apiKey: "",
      apiFormat: "openai",
      streamFn: model.streamFn,
    } as const;
    const events = karl.agentLoop("Be brief.", "Go", definitions, {
      ...config,
      ...(abort && { signal: abort.signal }),
    });
    try {
      for (;;) {
        const { done, value } = await events.next();
        if (done === true) return outcome(model, undefined, messageText(value));
      }
    } catch (error) {
      return outcome(model, codeOf(error));
    }
  },

  async codelet({ script, tools = {}, abort }: Scenario) {
    const model = createScriptedModel(script);
    const provider = new codelet.ModelProvider(model.model, {}, model.streamFn);
    const registry = codelet.ToolRegistry.default(toolsOf(tools));
    const runner = codelet.Runner.withProvider(provider, {
      tools: registry,
      ...(abort && { signal: abort.signal }),
    });
    try {
      const messages = await runner.run("Go");
      return outcome(model, undefined, messageText(messages.at(-1) as codelet.Message));
    } catch (error) {
      return outcome(model, codeOf(error));
    }
  },

  async gai({ script, tools = {}, abort }: Scenario) {
    const model = createScriptedModel(script);
    const list = Object.entries(tools).map(([name, work]) =>
      gai.Tool.new({
        name,
        description: name,
        schema: schemaOf(name),
        async execute(_ctx, args) {
          const said = await work(args as { a: number; b: number });
          return typeof said === "string"
            ? gai.ok(said)
            : gai.err({ type: "ExecutionError", message: said.error });
        },
      }),
    );
    const agent = gai.Agent.new({ name: "scripted", model: model.model, streamFn: model.streamFn })
      .withSystemPrompt("Be brief.")
      .withTools(list);
    const runtime = gai.Runtime.new(() =>
      gai.err({ type: "HttpError", status: 0, message: "not used" }),
    );
    const options = abort === undefined ? {} : { signal: abort.signal };
    const result = await gai.run(agent, undefined, [gai.userText("Go")], runtime, options);
    if (result.ok) return outcome(model, undefined, gai.textContent(result.value.response));
    return outcome(model, result.error.info?.code ?? result.error.type);
  },
} satisfies Record<string, (scenario: Scenario) => Promise<Outcome>>;

type Shape = keyof typeof shapes;

const call = (name: string, args: object, id = `call_${name}`): AssistantContent =>
  scriptedToolCall(name, args as Record<string, unknown>, id);
const wrote = (argumentsText: string): AssistantContent =>
  ({ ...(call("add", {}) as object), argumentsText }) as AssistantContent;
const said = (text: string): AssistantContent => ({ type: "text", text });

describe("four formats over one loop, with the same scripted model, have the same transcript for", () => {
  // Requirements: K17, C18, G27
  it("a text", () =>
    same({ script: ["Hello."] }, { transcript: ["user: Go", "assistant: Hello."], modelCalls: 1 }));

  // Requirements: K54, C19, C20, G28
  it("one tool", () =>
    same(
      { script: [{ content: [call("add", { a: 1, b: 2 })] }, "3."], tools: { add } },
      {
        transcript: [
          "user: Go",
          'assistant: add#call_add{"a":1,"b":2}',
          "result#call_add: 3",
          "assistant: 3.",
        ],
        modelCalls: 2,
      },
    ));

  // Requirements: K27, K54, C19, G28
  it("three calls in one answer, in order", async () => {
    const order: number[] = [];
    const slow: Work = async ({ a }) => {
      await new Promise((resolve) => setTimeout(resolve, a === 1 ? 10 : 0));
      order.push(a);
      return `slow ${a}`;
    };
    const calls = [1, 2, 3].map((a) => call("slow", { a }, `c${a}`));
    await same(
      { script: [{ content: calls }, "Done."], tools: { slow } },
      {
        transcript: [
          "user: Go",
          'assistant: slow#c1{"a":1} slow#c2{"a":2} slow#c3{"a":3}',
          "result#c1: slow 1",
          "result#c2: slow 2",
          "result#c3: slow 3",
          "assistant: Done.",
        ],
        modelCalls: 2,
      },
    );
    assert.deepEqual(order, [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3]);
  });

  // Requirements: K33, C14, G21
  it("three rounds of tools, then a text", () => {
    const rounds = [1, 2, 3].map((a) => ({ content: [call("add", { a, b: a }, `c${a}`)] }));
    const shown = [1, 2, 3].flatMap((a) => [
      `assistant: add#c${a}{"a":${a},"b":${a}}`,
      `result#c${a}: ${a + a}`,
    ]);
    return same(
      { script: [...rounds, "12."], tools: { add } },
      { transcript: ["user: Go", ...shown, "assistant: 12."], modelCalls: 4 },
    );
  });

  // Requirements: K25, K59
  it("text beside a call, which stays in the transcript", () =>
    same(
      {
        script: [{ content: [said("I add."), call("add", { a: 1, b: 2 })] }, "3."],
        tools: { add },
      },
      {
        transcript: [
          "user: Go",
          'assistant: I add. add#call_add{"a":1,"b":2}',
          "result#call_add: 3",
          "assistant: 3.",
        ],
        modelCalls: 2,
      },
    ));

  // Requirements: K31, C20, G6
  it("a tool that throws", () =>
    failing(
      {
        script: [{ content: [call("f", {})] }, "Sorry."],
        tools: { f: () => Promise.reject(new Error("disk full")) },
      },
      "f#call_f{}",
      {
        agent: "disk full",
        karl: "Error: disk full",
        codelet: "disk full",
        gai: "Execution error: disk full",
      },
    ));

  // Requirements: K36, G9
  it("a tool that returns an error", () =>
    failing(
      {
        script: [{ content: [call("f", {})] }, "Sorry."],
        tools: { f: () => ({ error: "no file" }) },
      },
      "f#call_f{}",
      {
        agent: "no file",
        karl: "no file",
        codelet: "no file",
        gai: "Execution error: no file",
      },
    ));

  // Requirements: K28, G28
  it("an unknown tool, which is never run", () => {
    const text = 'Tool "ad" not found. Did you mean add? Available: add.';
    return failing(
      { script: [{ content: [call("ad", {})] }, "Sorry."], tools: { add } },
      "ad#call_ad{}",
      {
        agent: text,
        karl: 'Error: Tool "ad" not found',
        codelet: text,
        gai: "Unknown tool: ad",
      },
    );
  });

  // Requirements: K29, G7
  it("invalid JSON arguments, which are explained and not run", () =>
    failing(
      { script: [{ content: [wrote('{"a": 1,')] }, "Sorry."], tools: { add } },
      "add#call_add!",
      {
        agent: /^Not run: The arguments are not valid JSON: /,
        karl: /^Error: Not run: The arguments are not valid JSON: /,
        codelet: /^Not run: The arguments are not valid JSON: /,
        gai: /^Parse error: Not run: The arguments are not valid JSON: /,
      },
    ));

  // Requirements: G5, G7
  it("arguments that do not fit the schema, which are not run", () =>
    failing(
      { script: [{ content: [call("add", { a: 1 })] }, "Sorry."], tools: { add } },
      'add#call_add{"a":1}',
      {
        agent: /^Invalid arguments for tool "add":\n {2}- b: /,
        karl: /^Error: Invalid arguments for tool "add":\n {2}- b: /,
        codelet: /^Invalid arguments for tool "add":\n {2}- b: /,
        gai: /^Parse error: Invalid arguments for tool "add":\n {2}- b: /,
      },
    ));

  // Requirements: K29
  it("empty arguments, which count as {}", () =>
    same(
      {
        script: [
          { content: [{ ...(call("now", {}) as object), argumentsText: "" } as AssistantContent] },
          "Noon.",
        ],
        tools: { now: () => "12:00" },
      },
      {
        transcript: [
          "user: Go",
          "assistant: now#call_now{}",
          "result#call_now: 12:00",
          "assistant: Noon.",
        ],
        modelCalls: 2,
      },
    ));

  // Requirements: K18, C16, G29
  it("a model that fails after a round, with the same error code", () => {
    const error = new BowlineError("overloaded", "Overloaded", { status: 529, retryable: true });
    return same(
      {
        script: [{ content: [call("add", { a: 1, b: 2 })] }, { content: [said("I")], error }],
        tools: { add },
      },
      {
        transcript: ["user: Go", 'assistant: add#call_add{"a":1,"b":2}', "result#call_add: 3"],
        end: "overloaded",
        modelCalls: 2,
      },
    );
  });

  // Requirements: C9, C23
  it("a call cut by the token limit, which is answered, not run, and requested again", () => {
    const cut = { content: [said("I add."), wrote('{"a": 1')], stopReason: "length" } as const;
    const text = "Not run: the token limit cut the answer. Call add again with less at once.";
    return same({ script: [cut, "Sorry."], tools: { add } }, (shape) => ({
      transcript: [
        "user: Go",
        "assistant: I add. add#call_add!",
        `result#call_add error: ${{ agent: "", karl: "Error: ", codelet: "", gai: "Execution error: " }[shape]}${text}`,
        "assistant: Sorry.",
      ],
      modelCalls: 2,
    }));
  });

  // Requirements: K37
  it("an abort while a tool runs, after which no model is called", async () => {
    for (const shape of Object.keys(shapes) as Shape[]) {
      const abort = new AbortController();
      const stop: Work = () => {
        abort.abort();
        return "stopped";
      };
      const { end, modelCalls } = await shapes[shape]({
        script: [{ content: [call("stop", {}), call("stop", {}, "second")] }, "Never."],
        tools: { stop },
        abort,
      });
      assert.deepEqual({ shape, end, modelCalls }, { shape, end: "aborted", modelCalls: 1 });
    }
  });
});

function toolsOf(tools: Readonly<Record<string, Work>>): AgentTool[] {
  return Object.entries(tools).map(([name, work]) =>
    defineTool({
      name,
      description: name,
      parameters: schemaOf(name),
      async execute(args) {
        const given = await work(args as { a: number; b: number });
        return typeof given === "string"
          ? given
          : { content: [{ type: "text", text: given.error }], isError: true };
      },
    }),
  );
}

/** The messages that the model got last, and its answer if the run ended well. */
function outcome(model: ScriptedModel, end = "done", answer = ""): Outcome {
  const shown = model.calls.at(-1)?.context.messages ?? [];
  const transcript = [...shown.map(line), ...(end === "done" ? [`assistant: ${answer}`] : [])];
  return { transcript, end, modelCalls: model.calls.length };
}

function line(message: AgentMessage): string {
  if (message.role === "user") return `user: ${messageText(message)}`;
  if (message.role === "toolResult")
    return `result#${message.toolCallId}${message.isError ? " error" : ""}: ${messageText(message)}`;
  const calls = message.content.flatMap((part) =>
    part.type === "toolCall"
      ? [
          `${part.name}#${part.id}${part.argumentsError === undefined ? JSON.stringify(part.arguments) : "!"}`,
        ]
      : [],
  );
  return `assistant: ${[messageText(message), ...calls].filter((text) => text !== "").join(" ")}`;
}

function codeOf(error: unknown): string {
  assert.ok(isBowlineError(error), String(error));
  return error.code;
}

type Expected = Partial<Outcome>;

async function same(
  scenario: Scenario,
  expected: Expected | ((shape: Shape) => Expected),
): Promise<void> {
  for (const shape of Object.keys(shapes) as Shape[]) {
    const wanted = typeof expected === "function" ? expected(shape) : expected;
    assert.deepEqual(
      { shape, ...(await shapes[shape](scenario)) },
      { shape, end: "done", ...wanted },
    );
  }
}

/** Runs one call whose result is an error, in the wording of each format. */
async function failing(
  scenario: Scenario,
  asked: string,
  words: Record<Shape, string | RegExp>,
): Promise<void> {
  for (const shape of Object.keys(shapes) as Shape[]) {
    const { transcript, end, modelCalls } = await shapes[shape](scenario);
    const [user, assistant, result = "", answer] = transcript;
    const about = { shape, end, modelCalls, user, assistant, answer };
    const expected = {
      end: "done",
      modelCalls: 2,
      user: "user: Go",
      assistant: `assistant: ${asked}`,
      answer: "assistant: Sorry.",
    };
    assert.deepEqual(about, { shape, ...expected });
    const prefix = /^result#\w+ error: /;
    assert.match(result, prefix);
    const text = result.replace(prefix, "");
    if (typeof words[shape] === "string") assert.equal(text, words[shape], shape);
    else assert.match(text, words[shape], shape);
  }
}
