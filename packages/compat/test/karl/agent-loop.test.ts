/** karl's agent loop (seed 000) with the scripted model: events, messages, tools. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Type } from "typebox";
import {
  adaptTool,
  agentLoop,
  type AgentEvent,
  type Message,
  type ThinkingEvent,
  type ThinkingLoopConfig,
  type ToolDefinition,
  type ToolResult,
} from "../../src/karl/index.ts";
import { BowlineError, messageText, type AssistantContent } from "@bowline/core";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedModel,
  type ScriptedStep,
} from "@bowline/core/testing";
import { code } from "../../../../test/support/error-code.ts";
import { texts } from "../../../../test/support/message-texts.ts";

const textResult = (text: string): ToolResult => ({ content: [{ type: "text", text }] });

function tool(
  name: string,
  execute: ToolDefinition["execute"] = async () => textResult(`${name} ran`),
): ToolDefinition {
  const properties = { path: { type: "string" } };
  return {
    name,
    description: `The tool ${name}.`,
    parameters: { type: "object", properties },
    execute,
  };
}

const asks = (...names: string[]): { content: AssistantContent[] } => ({
  content: names.map((name) => scriptedToolCall(name, { path: "a" }, `call_${name}`)),
});

interface Ran {
  readonly events: (AgentEvent | ThinkingEvent)[];
  readonly message?: Message;
  readonly error?: unknown;
  readonly history: Message[];
  readonly model: ScriptedModel;
}

/** Runs to the end and records everything. */
async function run(
  script: readonly ScriptedStep[],
  tools: ToolDefinition[] = [],
  options: Partial<ThinkingLoopConfig> = {},
  user: string | Message[] = "Go",
  systemPrompt = "Be brief.",
): Promise<Ran> {
  const model = createScriptedModel(script, { deltaLength: 4 });
  const events: Ran["events"] = [];
  const history: Message[] = [];
  const onMessage = (message: Message): void => void history.push(message);
  const config = {
    model: "m",
    baseUrl: "",
    apiKey: "",
    apiFormat: "openai",
    streamFn: model.streamFn,
    thinkingEvents: false,
    onMessage,
  } as const;
  const generator = agentLoop(systemPrompt, user, tools, { ...config, ...options });
  try {
    for (;;) {
      const { done, value } = await generator.next();
      if (done === true) return { events, message: value, history, model };
      events.push(value);
    }
  } catch (error) {
    return { events, error, history, model };
  }
}

const kinds = (events: Ran["events"]): string[] => events.map(({ type }) => type);

describe("karl's loop", () => {
  // Requirements: K17, K20, K21, K24, K26, K59
  it("yields the events of a text in order and returns the message", async () => {
    const { events, message } = await run([
      { content: [{ type: "text", text: "Hello." }], usage: { input: 7, output: 2 } },
    ]);
    const usage = { input: 7, output: 2, total: 9 };
    assert.deepEqual(events, [
      { type: "stream_start" },
      { type: "text_delta", delta: "Hell" },
      { type: "text_delta", delta: "o." },
      { type: "text_end", text: "Hello." },
      { type: "message_end", message: { role: "assistant", content: "Hello." }, usage },
      { type: "turn_end", usage },
    ]);
    assert.deepEqual(message, { role: "assistant", content: "Hello." });
  });

  // Requirements: K10, K14, K22, K25, K26, K30, K32, K33, K54, K59
  it("yields text, calls, executions and turn_end over two rounds", async () => {
    const first = {
      content: [{ type: "text", text: "I" } as const, ...asks("a").content],
      usage: { input: 5, output: 1 },
    };
    const { events, history } = await run(
      [first, { content: [{ type: "text", text: "Ok" }], usage: { input: 9, output: 2 } }],
      [tool("a")],
    );
    const toolCall = {
      id: "call_a",
      type: "function",
      function: { name: "a", arguments: '{"path":"a"}' },
    } as const;
    const asked = { role: "assistant", content: "I", tool_calls: [toolCall] } as const;
    assert.deepEqual(events, [
      { type: "stream_start" },
      { type: "text_delta", delta: "I" },
      { type: "tool_call_start", toolCall },
      { type: "tool_call_end", toolCall },
      { type: "text_end", text: "I" },
      { type: "message_end", message: asked, usage: { input: 5, output: 1, total: 6 } },
      { type: "tool_execution_start", toolName: "a", args: { path: "a" } },
      { type: "tool_execution_end", toolName: "a", result: textResult("a ran"), isError: false },
      { type: "stream_start" },
      { type: "text_delta", delta: "Ok" },
      { type: "text_end", text: "Ok" },
      {
        type: "message_end",
        message: { role: "assistant", content: "Ok" },
        usage: { input: 9, output: 2, total: 11 },
      },
      { type: "turn_end", usage: { input: 14, output: 3, total: 17 } },
    ]);
    assert.deepEqual(history, [
      asked,
      { role: "tool", tool_call_id: "call_a", name: "a", content: "a ran" },
      { role: "assistant", content: "Ok" },
    ]);
  });

  // Requirements: K22, K27, K54
  it("yields the events of several calls as they arrive, then runs the calls one after the other", async () => {
    const running: string[] = [];
    const slow = (name: string, ms: number): ToolDefinition =>
      tool(name, async () => {
        running.push(`${name} starts`);
        await wait(ms);
        running.push(`${name} ends`);
        return textResult(name);
      });
    const { events, history } = await run([asks("a", "b"), "Ok"], [slow("b", 0), slow("a", 5)]);
    assert.deepEqual(running, ["a starts", "a ends", "b starts", "b ends"]);
    const called = "tool_call_start tool_call_end";
    const ran = "tool_execution_start tool_execution_end";
    const order = `stream_start ${called} ${called} message_end ${ran} ${ran} stream_start`;
    assert.equal(kinds(events).slice(0, 11).join(" "), order);
    assert.deepEqual(
      history.map(({ name }) => name),
      [undefined, "a", "b", undefined],
    );
  });

  // Requirements: K24, K25, K59
  it("yields no text_end for calls without text, and no unknown usage", async () => {
    const { events, history } = await run([asks("a"), "Ok"], [tool("a")]);
    assert.equal(kinds(events).indexOf("text_end"), kinds(events).lastIndexOf("text_end"));
    assert.equal(history[0]?.content, "");
    assert.ok(events.every((event) => !("usage" in event)));
    assert.ok(!("tool_calls" in (history.at(-1) as Message)));
  });

  // Requirements: K14, K57
  it("yields only the ten original kinds unless thinking events are requested", async () => {
    const content: AssistantContent[] = [
      { type: "thinking", thinking: "Hm" },
      { type: "text", text: "Hi" },
    ];
    const plain = await run([{ content }]);
    assert.deepEqual(kinds(plain.events), [
      "stream_start",
      "text_delta",
      "text_end",
      "message_end",
      "turn_end",
    ]);
    const asked = await run([{ content }], [], { thinkingEvents: true });
    assert.deepEqual(asked.events.slice(1, 3), [
      { type: "thinking_delta", delta: "Hm" },
      { type: "thinking_end", text: "Hm" },
    ]);
    assert.deepEqual(asked.message, { role: "assistant", content: "Hi" });
  });

  // Requirements: K15, K23
  it("counts cached tokens as input, and sums costs", async () => {
    const usage = {
      input: 1,
      output: 2,
      cacheRead: 10,
      cacheWrite: 100,
      totalTokens: 113,
      cost: { total: 0.5 },
    };
    const { events } = await run(
      [
        { ...asks("a"), usage },
        { content: [{ type: "text", text: "Ok" }], usage },
      ],
      [tool("a")],
    );
    const one = { input: 111, output: 2, total: 113, cost: 0.5 };
    assert.deepEqual(
      events.flatMap((event) => ("usage" in event ? [event.usage] : [])),
      [one, one, { input: 222, output: 4, total: 226, cost: 1 }],
    );
  });
});

describe("karl's tools", () => {
  // Requirements: K31, K54
  it("that throw are reported as an error, and the loop continues", async () => {
    const { events, history, message } = await run(
      [asks("a"), "Ok"],
      [tool("a", () => Promise.reject(new Error("disk full")))],
    );
    assert.deepEqual(
      events.find((event) => event.type === "tool_execution_end"),
      {
        type: "tool_execution_end",
        toolName: "a",
        result: { content: [{ type: "text", text: "Error: disk full" }], isError: true },
        isError: true,
      },
    );
    assert.deepEqual(history[1], {
      role: "tool",
      tool_call_id: "call_a",
      name: "a",
      content: "Error: disk full",
      is_error: true,
    });
    assert.equal(message?.content, "Ok");
  });

  // Requirements: K12, K36
  it("that return isError have failed, with their result", async () => {
    const result = { ...textResult("no"), isError: true };
    const { events, model } = await run([asks("a"), "Ok"], [tool("a", async () => result)]);
    assert.deepEqual(
      events.find((event) => event.type === "tool_execution_end"),
      {
        type: "tool_execution_end",
        toolName: "a",
        result,
        isError: true,
      },
    );
    const sent = model.calls[1]?.context.messages.at(-1);
    assert.deepEqual(sent?.role === "toolResult" && [sent.isError, sent.content], [
      true,
      result.content,
    ]);
  });

  // Requirements: K28, K54
  it("that are unknown yield no execution events and the original error text", async () => {
    const { events, history, model } = await run([asks("nope"), "Ok"], [tool("a")]);
    assert.deepEqual(
      kinds(events).filter((kind) => kind.startsWith("tool_execution")),
      [],
    );
    const text = 'Error: Tool "nope" not found';
    assert.deepEqual(history[1], {
      role: "tool",
      tool_call_id: "call_nope",
      name: "nope",
      content: text,
      is_error: true,
    });
    assert.deepEqual(texts(model.calls[1]?.context.messages ?? []).at(-1), `toolResult: ${text}`);
  });

  // Requirements: K10, K29
  it("get {} for empty arguments, and do not run with malformed ones, whose text is kept", async () => {
    const seen: unknown[] = [];
    const a = tool("a", async (params) => {
      seen.push(params);
      return textResult("ran");
    });
    const wrote = (argumentsText: string, id: string): AssistantContent => ({
      type: "toolCall",
      id,
      name: "a",
      arguments: {},
      argumentsText,
    });
    const { events, history } = await run(
      [{ content: [wrote("", "c1"), wrote('{"path"', "c2")] }, "Ok"],
      [a],
    );
    assert.deepEqual(seen, [{}]);
    assert.deepEqual(
      history[0]?.tool_calls?.map((call) => call.function.arguments),
      ["{}", '{"path"'],
    );
    assert.match(
      messageText(history[2] as Message),
      /^Error: Not run: The arguments are not valid JSON: /,
    );
    const ends = events.flatMap((event) =>
      event.type === "tool_execution_end" ? [event.isError] : [],
    );
    assert.deepEqual(ends, [false, true]);
  });

  // Requirements: K12, K32, K57
  it("return images, which reach the model, and text, which is joined by newlines", async () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const;
    const content = [
      { type: "text", text: "one" } as const,
      image,
      { type: "text", text: "two" } as const,
    ];
    const { history, model } = await run([asks("a"), "Ok"], [tool("a", async () => ({ content }))]);
    assert.equal(history[1]?.content, "one\ntwo");
    const sent = model.calls[1]?.context.messages.at(-1);
    assert.deepEqual(sent?.role === "toolResult" && sent.content, content);
  });

  // Requirements: K11, K51
  it("written for the runner work after adaptTool, and get the real call id and the signal", async () => {
    const told: unknown[] = [];
    const parameters = Type.Object({ path: Type.String() });
    const adapted = adaptTool({
      name: "read",
      description: "Reads a file.",
      parameters,
      async execute(toolCallId, params, signal) {
        told.push(toolCallId, params, signal instanceof AbortSignal);
        return { ...textResult("text"), details: "more" };
      },
    });
    assert.deepEqual([adapted.name, adapted.description], ["read", "Reads a file."]);
    assert.equal(adapted.parameters, parameters);
    assert.deepEqual(await adapted.execute({ path: "a" }, "id"), {
      ...textResult("text"),
      isError: false,
    });
    told.length = 0;
    const { events } = await run([asks("read"), "Ok"], [adapted]);
    assert.deepEqual(told, ["call_read", { path: "a" }, true]);
    const end = events.find((event) => event.type === "tool_execution_end");
    assert.deepEqual(end?.result, { ...textResult("text"), isError: false });
    const failed = { ...textResult("no file"), isError: true };
    assert.deepEqual(
      await adaptTool({ ...adapted, execute: async () => failed }).execute({}, "id"),
      failed,
    );
  });

  // Requirements: K13, K35, K37
  it("get an aborted signal on an abort, and the run ends with the error", async () => {
    const abort = new AbortController();
    let stopped = false;
    const a = tool("a", async (_params, _id, signal) => {
      signal?.addEventListener("abort", () => (stopped = true));
      abort.abort();
      return textResult("late");
    });
    const { events, error, model } = await run([asks("a"), "Never"], [a], { signal: abort.signal });
    assert.ok(code("aborted")(error) && stopped);
    assert.deepEqual(events.at(-1), { type: "error", error });
    assert.equal(model.calls.length, 1);
  });
});

describe("karl's errors", () => {
  // Requirements: K18, K35
  it("of the model are yielded once and then thrown, without the partial answer", async () => {
    const error = new BowlineError("server_error", "Boom", { retryable: true });
    const ran = await run([{ content: [{ type: "text", text: "Hel" }], error }]);
    assert.deepEqual(kinds(ran.events), ["stream_start", "text_delta", "error"]);
    assert.ok(
      code("server_error")(ran.error) && ran.error instanceof Error && ran.error.message === "Boom",
    );
    assert.equal(ran.events.at(-1)?.type === "error" && ran.events.at(-1), ran.events[2]);
    assert.deepEqual(ran.history, []);
  });

  // Requirements: K18, K35
  it("of a history that ends with the assistant are yielded and thrown the same way", async () => {
    const { events, error } = await run(["Never"], [], {}, [{ role: "assistant", content: "Hi" }]);
    assert.deepEqual(kinds(events), ["error"]);
    assert.ok(code("invalid_state")(error));
  });

  // Requirements: K34
  it("of an endless loop come after 50 rounds of tools", async () => {
    let ran = 0;
    const a = tool("a", async () => textResult(String(++ran)));
    const { error, model } = await run(
      Array.from({ length: 60 }, () => asks("a")),
      [a],
    );
    assert.deepEqual([ran, model.calls.length], [50, 51]);
    assert.ok(code("budget_exceeded")(error));
  });

  // Requirements: K34
  it("with maxToolRounds 0 come before a tool runs, and not for a text", async () => {
    assert.equal((await run(["Hi"], [tool("a")], { maxToolRounds: 0 })).message?.content, "Hi");
    let ran = false;
    const a = tool("a", async () => {
      ran = true;
      return textResult("");
    });
    const { error } = await run([asks("a"), "Never"], [a], { maxToolRounds: 0 });
    assert.ok(code("budget_exceeded")(error) && !ran);
  });

  // Requirements: K34
  it("of repeatedly truncated calls end the run", async () => {
    const cut = { ...asks("a"), stopReason: "length" } as const;
    const { error } = await run([cut, cut, cut, "Never"], [tool("a")]);
    assert.ok(code("budget_exceeded")(error));
  });

  // Requirements: K18
  it("do not occur when a consumer leaves; the model call is aborted", async () => {
    let aborted: AbortSignal | undefined;
    const model = createScriptedModel(
      [
        (_context, options) => {
          aborted = options.signal;
          return "A long text";
        },
      ],
      { delayMs: 1, deltaLength: 1 },
    );
    const config = {
      model: "m",
      baseUrl: "",
      apiKey: "",
      apiFormat: "openai",
      streamFn: model.streamFn,
    } as const;
    for await (const event of agentLoop("", "Go", [], config))
      if (event.type === "text_delta") break;
    assert.equal(aborted?.aborted, true);
  });
});

describe("karl's messages", () => {
  // Requirements: K19
  it("begin with the system prompt if set, then the user's", async () => {
    const { model } = await run(["Hi"], [], {}, "Go", "");
    assert.equal(model.calls[0]?.context.systemPrompt, "");
    assert.deepEqual(texts(model.calls[0]?.context.messages ?? []), ["user: Go"]);
    const other = await run(["Hi"]);
    assert.equal(other.model.calls[0]?.context.systemPrompt, "Be brief.");
  });

  // Requirements: K8, K9
  it("can be a list with roles, calls, results and blocks of every kind", async () => {
    const asked = { name: "a", arguments: '{"path":"x"}' };
    const given: Message[] = [
      { role: "system", content: "In rhyme." },
      {
        role: "user",
        content: [
          { type: "text", text: "See" },
          { type: "image", data: "AAAA", mimeType: "image/png" },
        ],
      },
      {
        role: "assistant",
        content: "I",
        tool_calls: [{ id: "c1", type: "function", function: asked }],
      },
      { role: "tool", tool_call_id: "c1", name: "a", content: "one" },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "c2", name: "a", input: { path: "y" } }],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c2", content: "no", is_error: true },
          { type: "text", text: "And?" },
        ],
      },
    ];
    const { model, message } = await run(["Hi"], [tool("a")], {}, given);
    const { systemPrompt, messages = [] } = model.calls[0]?.context ?? {};
    assert.equal(systemPrompt, "Be brief.\n\nIn rhyme.");
    assert.deepEqual(texts(messages), [
      "user: Seeimage",
      "assistant: ItoolCall",
      "toolResult: one",
      "assistant: toolCall",
      "toolResult: no",
      "user: And?",
    ]);
    assert.deepEqual(
      messages.flatMap((sent) =>
        sent.role === "toolResult" ? [[sent.toolCallId, sent.toolName, sent.isError]] : [],
      ),
      [
        ["c1", "a", false],
        ["c2", "", true],
      ],
    );
    assert.deepEqual(
      messages
        .flatMap((sent) => (sent.role === "assistant" ? sent.content : []))
        .flatMap((part) => (part.type === "toolCall" ? [part.arguments] : [])),
      [{ path: "x" }, { path: "y" }],
    );
    assert.equal(message?.content, "Hi");
  });
});

describe("karl's entry point", () => {
  // Requirements: K16, K38, K58, K60
  it("exports agentLoop with four parameters, and no functions of the wires", async () => {
    const entry = await import("../../src/karl/index.ts");
    assert.deepEqual(Object.keys(entry).toSorted(), [
      "AgentLoopError",
      "adaptTool",
      "agentLoop",
      "runTask",
    ]);
    assert.equal(entry.agentLoop.length, 4);
  });

  // Requirements: K49
  it("has a runner that imports the loop and no provider", () => {
    const source = readFileSync(join(import.meta.dirname, "../../src/karl/run-task.ts"), "utf8");
    assert.match(source, /import \{ createAgentLoop\b.* from "\.\/agent-loop\.ts"/);
    assert.doesNotMatch(source, /getModel|setApiKey|mapToPiAiProvider|providers\//);
  });
});
