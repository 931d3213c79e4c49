/**
 * gai's run (seed 004) over a mock transport, then over a real socket: results, requests, limits
 * and errors as values.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Type } from "typebox";
import {
  Agent,
  anthropic,
  err,
  errorToString,
  fetchRuntime,
  hasToolCalls,
  ok,
  openai,
  run,
  Runtime,
  system,
  textContent,
  Tool,
  toolResult,
  toolResultError,
  userText,
  type GaiError,
  type HttpRequest,
  type HttpResponse,
} from "../../src/gai/index.ts";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { failing, loopback } from "../../../../test/support/loopback.ts";
import { strictServer } from "../../../../test/support/strict-server.ts";

interface Context {
  readonly weatherKey: string;
  readonly searchKey: string;
}
const ctx: Context = { weatherKey: "weather-key", searchKey: "search-key" };

const weather = Tool.new({
  name: "get_weather",
  description: "Get current weather for a location",
  schema: Type.Object({ location: Type.String(), unit: Type.Optional(Type.String()) }),
  execute: ({ weatherKey }: Context, { location, unit = "celsius" }) =>
    ok(`${location}: 20 ${unit} (${weatherKey})`),
});
const search = Tool.new({
  name: "web_search",
  description: "Search the web for information",
  schema: Type.Object({ query: Type.String(), limit: Type.Optional(Type.Integer()) }),
  execute: async ({ searchKey }: Context, { query, limit = 5 }) =>
    ok(`${limit} for ${query} (${searchKey})`),
});
const provider = anthropic.provider(anthropic.new("sk-ant-1", "claude-x"));

type Answer = object[] | GaiError | HttpResponse;

/** A transport that answers from a list: content blocks, a whole response, or an error. */
function mock(...answers: Answer[]): {
  runtime: Runtime;
  requests: HttpRequest[];
  bodies: () => Record<string, unknown>[];
} {
  const requests: HttpRequest[] = [];
  const runtime = Runtime.new((request) => {
    requests.push(request);
    const answer = answers.shift() ?? {
      type: "ApiError",
      code: "script",
      message: "No answer is left",
    };
    if ("type" in answer) return err(answer);
    if (!Array.isArray(answer)) return ok(answer);
    const stop_reason = JSON.stringify(answer).includes('"tool_use"') ? "tool_use" : "end_turn";
    const about = {
      id: "m",
      type: "message",
      role: "assistant",
      model: "claude-x-1",
      usage: { input_tokens: 3, output_tokens: 1 },
    };
    return ok({
      status: 200,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...about, content: answer, stop_reason }),
    });
  });
  return {
    runtime,
    requests,
    bodies: () => requests.map(({ body }) => JSON.parse(body) as Record<string, unknown>),
  };
}
const text = (words: string): object => ({ type: "text", text: words });
const use = (name: string, input: object, id = `id_${name}`): object => ({
  type: "tool_use",
  id,
  name,
  input,
});

describe("gai's run", () => {
  // Requirements: G17, G21, G22, G23, G27, G28, G30
  it("answers the original example: two tools, defaults, a context, a prompt, five iterations", async () => {
    const { runtime } = mock(
      [
        text("I look."),
        use("get_weather", { location: "Madrid" }),
        use("web_search", { query: "tapas" }),
      ],
      [text("Sunny; go to La Latina.")],
    );
    const agent = Agent.new(provider)
      .withSystemPrompt("You are a helpful assistant with access to weather and search tools.")
      .withTool(weather)
      .withTool(search)
      .withMaxIterations(5);
    const question = userText(
      "What's the weather like in Madrid? Also search for good tapas restaurants there.",
    );
    const result = await run(agent, ctx, [question], runtime);
    assert.ok(result.ok, JSON.stringify(result));
    const { response, messages, iterations } = result.value;
    assert.deepEqual([textContent(response), iterations], ["Sunny; go to La Latina.", 2]);
    assert.deepEqual(
      [response.model, response.stopReason, response.usage.input],
      ["claude-x-1", "stop", 3],
    );
    assert.deepEqual(messages, [
      system("You are a helpful assistant with access to weather and search tools."),
      question,
      {
        role: "assistant",
        content: [
          { type: "text", text: "I look." },
          {
            type: "toolUse",
            id: "id_get_weather",
            name: "get_weather",
            argumentsJson: '{"location":"Madrid"}',
          },
          {
            type: "toolUse",
            id: "id_web_search",
            name: "web_search",
            argumentsJson: '{"query":"tapas"}',
          },
        ],
      },
      {
        role: "user",
        content: [
          toolResult("id_get_weather", "Madrid: 20 celsius (weather-key)"),
          toolResult("id_web_search", "5 for tapas (search-key)"),
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "Sunny; go to La Latina." }] },
    ]);
  });

  // Requirements: G25, G26
  it("sends names, descriptions and schemas of tools, the model id, and limits only if set", async () => {
    const { runtime, requests, bodies } = mock([text("Hi")], [text("Hi")]);
    await run(
      Agent.new<Context>(provider)
        .withTool(search)
        .withTool(weather)
        .withMaxTokens(50)
        .withTemperature(0.5),
      ctx,
      [userText("Go")],
      runtime,
    );
    await run(Agent.new(provider), undefined, [userText("Go")], runtime);
    const [full, bare] = bodies();
    assert.deepEqual(
      [requests[0]?.method, requests[0]?.url],
      ["POST", "https://api.anthropic.com/v1/messages"],
    );
    assert.deepEqual(
      [requests[0]?.headers["x-api-key"], requests[0]?.headers["content-type"]],
      ["sk-ant-1", "application/json"],
    );
    assert.deepEqual([full?.model, full?.max_tokens, full?.temperature], ["claude-x", 50, 0.5]);
    const tools = (
      (full?.tools ?? []) as { name: string; description: string; input_schema: object }[]
    ).map(({ name, description, input_schema }) => [name, description, input_schema]);
    assert.deepEqual(
      tools,
      [weather, search].map(({ name, description, schemaJson }) => [name, description, schemaJson]),
    );
    assert.ok(
      !("tools" in (bare ?? {})) && !("temperature" in (bare ?? {})) && !("system" in (bare ?? {})),
    );
    // Anthropic requires max_tokens in every request. OpenAI's format has it only if set.
    const sent: HttpRequest[] = [];
    const chat = Runtime.new((request) => {
      sent.push(request);
      return ok({
        status: 200,
        body: '{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}',
      });
    });
    const result = await run(
      Agent.new(openai.provider(openai.new("sk-1", "gpt-x"))),
      undefined,
      [userText("Go")],
      chat,
    );
    assert.ok(result.ok && textContent(result.value.response) === "Hi", JSON.stringify(result));
    const body = JSON.parse(sent[0]?.body ?? "") as object;
    assert.deepEqual(body, {
      model: "gpt-x",
      messages: [{ role: "user", content: "Go" }],
      ...("stream" in body && { stream: false }),
    });
  });

  // Requirements: G15, G28
  it("runs the first of several tools with one name", async () => {
    const other = Tool.new({
      name: "web_search",
      description: "",
      schema: Type.Object({}),
      execute: () => ok("other"),
    });
    const { runtime, bodies } = mock([use("web_search", {})], [text("Done.")]);
    const result = await run(
      Agent.new<Context>(provider).withTool(search).withTool(other),
      ctx,
      [userText("Go")],
      runtime,
    );
    assert.ok(result.ok);
    assert.deepEqual(result.value.messages[2]?.content, [toolResult("id_web_search", "other")]);
    assert.equal(((bodies()[0]?.tools ?? []) as object[]).length, 1);
  });

  // Requirements: G6, G7, G28
  it("answers unknown tools, invalid arguments and failures with the original wording, in one message", async () => {
    const broken = Tool.new({
      name: "broken",
      description: "",
      schema: Type.Object({}),
      execute: () => Promise.reject(new Error("disk full")),
    });
    const { runtime, bodies } = mock(
      [use("gone", {}), use("get_weather", {}), use("broken", {})],
      [text("Sorry.")],
    );
    const result = await run(
      Agent.new<Context>(provider).withTools([weather, broken]),
      ctx,
      [userText("Go")],
      runtime,
    );
    assert.ok(result.ok && result.value.iterations === 2);
    const [gone, invalid, failed, ...rest] = result.value.messages[2]?.content ?? [];
    assert.deepEqual(
      [gone, failed, rest],
      [
        toolResultError("id_gone", "Unknown tool: gone"),
        toolResultError("id_broken", "Execution error: disk full"),
        [],
      ],
    );
    assert.ok(invalid?.type === "toolResult" && invalid.isError);
    assert.match(
      invalid.content,
      /^Parse error: Invalid arguments for tool "get_weather":\n {2}- location: /,
    );
    assert.match(
      JSON.stringify(bodies()[1]),
      /"is_error":true.*Unknown tool: gone|Unknown tool: gone.*"is_error":true/,
    );
  });

  // Requirements: G28
  it("executes calls one after the other, in order", async () => {
    const order: string[] = [];
    const slow = Tool.new({
      name: "slow",
      description: "",
      schema: Type.Object({ ms: Type.Integer() }),
      execute: async (_ctx, { ms }) => {
        await new Promise((resolve) => setTimeout(resolve, ms));
        order.push(String(ms));
        return ok("");
      },
    });
    const { runtime } = mock(
      [use("slow", { ms: 8 }, "a"), use("slow", { ms: 0 }, "b")],
      [text("Done.")],
    );
    assert.ok(
      (await run(Agent.new(provider).withTool(slow), undefined, [userText("Go")], runtime)).ok,
    );
    assert.deepEqual(order, ["8", "0"]);
  });

  // Requirements: G22, G23
  it("continues from the messages of an earlier run, with its system prompts and results", async () => {
    const agent = Agent.new<Context>(provider).withTool(weather);
    const first = mock([use("get_weather", { location: "Madrid" })], [text("Sunny.")]);
    const before = await run(
      agent,
      ctx,
      [system("In rhyme."), userText("Weather?")],
      first.runtime,
    );
    assert.ok(before.ok);
    const second = mock([text("Yes.")]);
    const after = await run(
      agent.withSystemPrompt("Be brief."),
      ctx,
      [...before.value.messages, userText("Sure?")],
      second.runtime,
    );
    assert.ok(after.ok && after.value.iterations === 1);
    assert.deepEqual(
      after.value.messages.map(({ role }) => role),
      ["system", "system", "user", "assistant", "user", "assistant", "user", "assistant"],
    );
    const [body] = second.bodies();
    assert.match(JSON.stringify(body?.system), /Be brief\.\\n\\nIn rhyme\./);
    assert.match(JSON.stringify(body?.messages), /Madrid: 20 celsius \(weather-key\)/);
    assert.doesNotMatch(JSON.stringify(body?.messages), /(?:Parse|Execution) error/);
  });
});

describe("gai's limit of iterations", () => {
  const asks = use("get_weather", { location: "Madrid" });
  const agent = Agent.new<Context>(provider).withTool(weather);

  // Requirements: G22, G24
  it("is checked before each model call, and the tools of the last allowed call still run", async () => {
    const { runtime, requests } = mock([asks], [asks], [text("Never")]);
    const result = await run(agent.withMaxIterations(2), ctx, [userText("Go")], runtime);
    assert.ok(!result.ok && result.error.type === "ApiError");
    const { code, message, iterations, messages } = result.error;
    assert.deepEqual([code, message], ["max_iterations", "Tool loop exceeded maximum iterations"]);
    assert.deepEqual([iterations, requests.length], [2, 2]);
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["user", "assistant", "user", "assistant", "user"],
    );
    assert.equal(
      errorToString(result.error),
      "API error (max_iterations): Tool loop exceeded maximum iterations",
    );
  });

  // Requirements: G13, G24
  it("fails at once when it is 0, allows a text when it is 1, and is 10 by default", async () => {
    const none = mock([text("Never")]);
    const refused = await run(agent.withMaxIterations(0), ctx, [userText("Go")], none.runtime);
    assert.ok(
      !refused.ok && refused.error.type === "ApiError" && refused.error.code === "max_iterations",
    );
    assert.deepEqual(
      [none.requests.length, refused.error.iterations, refused.error.messages],
      [0, 0, [userText("Go")]],
    );
    assert.ok(
      (await run(agent.withMaxIterations(1), ctx, [userText("Go")], mock([text("Hi")]).runtime)).ok,
    );
    const endless = mock(...Array.from({ length: 20 }, () => [asks]));
    assert.ok(!(await run(agent, ctx, [userText("Go")], endless.runtime)).ok);
    assert.equal(endless.requests.length, 10);
  });
});

describe("gai's errors", () => {
  const agent = Agent.new<Context>(provider).withTool(weather).withSystemPrompt("Be brief.");
  const asks = use("get_weather", { location: "Madrid" });

  // Requirements: G19, G29
  it("of the transport end the run unchanged, with history and iterations, and without a retry", async () => {
    const error = { type: "HttpError", status: 0, message: "no line" } as const;
    const { runtime, requests } = mock([asks], error);
    const result = await run(agent, ctx, [userText("Go")], runtime);
    assert.ok(!result.ok);
    const { messages, iterations, info, ...value } = result.error;
    assert.deepEqual([value, iterations, info?.retryable], [error, 2, true]);
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["system", "user", "assistant", "user"],
    );
    assert.equal(requests.length, 2);
  });

  // Requirements: G24, G29
  it("of the transport are dropped when a retry succeeds", async () => {
    const { runtime, requests } = mock(
      { type: "HttpError", status: 0, message: "no line" },
      [asks],
      [asks],
    );
    const random = (): number => 0;
    const clock = {
      now: () => 0,
      setTimer: (_ms: number, fire: () => void) => (queueMicrotask(fire), () => {}),
    };
    const options = {
      maxRetries: 1,
      timeouts: { firstByteMs: 0, idleMs: 0, progressMs: 0 },
      random,
      clock,
    };
    const result = await run(agent.withMaxIterations(2), ctx, [userText("Go")], runtime, options);
    assert.ok(!result.ok);
    assert.deepEqual(
      [errorToString(result.error), requests.length],
      ["API error (max_iterations): Tool loop exceeded maximum iterations", 3],
    );
  });

  // Requirements: G29
  it("after repeatedly truncated calls keep the history and the reason", async () => {
    const cut = { content: [scriptedToolCall("get_weather", {})], stopReason: "length" } as const;
    const { model, streamFn } = createScriptedModel([cut, cut, cut, "Never"]);
    const result = await run(
      Agent.new({ name: "scripted", model, streamFn }).withTool(weather),
      ctx,
      [userText("Go")],
      mock().runtime,
    );
    assert.ok(!result.ok);
    const { messages, iterations } = result.error;
    assert.equal(
      errorToString(result.error),
      "API error (budget_exceeded): A token limit cut the calls of each answer.",
    );
    assert.deepEqual([messages.length, iterations], [7, 3]);
  });

  // Requirements: G29
  it("of the server keep status and message; unreadable answers are parse errors", async () => {
    const answers: [Answer, RegExp][] = [
      [{ status: 401, body: '{"error":{"message":"bad key"}}' }, /^HTTP error 401: .*bad key$/],
      [{ status: 529, body: '{"error":{"message":"busy"}}' }, /^HTTP error 529: .*busy$/],
      [{ status: 200, body: "<html><title>Login</title>" }, /^Parse error: .*Login/],
      [{ status: 200, body: '{"id":"m"' }, /^Parse error: /],
    ];
    for (const [answer, expected] of answers) {
      const result = await run(agent, ctx, [userText("Go")], mock(answer).runtime);
      assert.ok(!result.ok);
      assert.match(errorToString(result.error), expected);
      assert.deepEqual([result.error.messages.length, result.error.iterations], [2, 1]);
    }
  });

  // Requirements: G21, G26
  it("of misuse are values too: no model, or nothing to answer", async () => {
    const { runtime, requests } = mock();
    const missing = await run(
      Agent.new(anthropic.provider(anthropic.new("sk-1"))),
      undefined,
      [userText("Go")],
      runtime,
    );
    assert.ok(
      !missing.ok && missing.error.type === "ApiError" && missing.error.code === "missing_model",
    );
    for (const messages of [
      [],
      [userText("Go"), { role: "assistant", content: [{ type: "text", text: "Hi" }] } as const],
    ]) {
      const result = await run(Agent.new(provider), undefined, messages, runtime);
      assert.ok(
        !result.ok && result.error.type === "ApiError" && result.error.code === "invalid_state",
      );
      assert.deepEqual(result.error.messages, messages);
    }
    assert.equal(requests.length, 0);
  });

  // Requirements: G29
  it("of a broken stream leave out the partial answer and its calls", async () => {
    const content = [{ type: "text", text: "I" } as const, scriptedToolCall("get_weather", {})];
    const { model, streamFn } = createScriptedModel([{ content, stopReason: "error" }]);
    const result = await run(
      Agent.new({ name: "scripted", model, streamFn }),
      undefined,
      [userText("Go")],
      mock().runtime,
    );
    assert.ok(!result.ok);
    assert.deepEqual(
      [result.error.messages, result.error.info?.code],
      [[userText("Go")], "server_error"],
    );
  });

  // Requirements: G29
  it("of an abort are values, and the transport's signal is aborted", async () => {
    const abort = new AbortController();
    let told: AbortSignal | undefined;
    const runtime = Runtime.new(({ signal }) => {
      told = signal;
      abort.abort();
      return new Promise(() => {});
    });
    const result = await run(agent, ctx, [userText("Go")], runtime, { signal: abort.signal });
    assert.ok(!result.ok && result.error.type === "ApiError" && result.error.code === "aborted");
    assert.equal(told?.aborted, true);
  });
});

describe("gai over real sockets", () => {
  // Requirements: G20, G31
  it("runs with fetch as its transport", async () => {
    await using server = await loopback(failing(500, "boom"));
    const agent = Agent.new(anthropic.provider(anthropic.new("sk-1", "claude-x", server.baseUrl)));
    const result = await run(agent, undefined, [userText("Go")], fetchRuntime());
    assert.ok(!result.ok && result.error.type === "HttpError" && result.error.status === 500);
    assert.match(result.error.message, /boom/);
  });

  // Requirements: G18, G26
  it("reads streamed answers through a transport that returns whole texts", async () => {
    const turns = [
      { calls: [{ id: "c1", name: "get_weather", args: { location: "Madrid" } }] },
      { text: "Sunny." },
    ];
    await using server = await strictServer("anthropic-messages", ...turns);
    const streaming = Runtime.new((request) => {
      const headers = { ...request.headers, accept: "text/event-stream" };
      const body = JSON.stringify({ ...(JSON.parse(request.body) as object), stream: true });
      return fetchRuntime().send({ ...request, headers, body });
    });
    const agent = Agent.new<Context>(
      anthropic.provider(anthropic.new("sk-1", "claude-x", server.baseUrl)),
    ).withTool(weather);
    const result = await run(agent, ctx, [userText("Go")], streaming);
    assert.ok(result.ok, JSON.stringify(result));
    assert.deepEqual(
      [
        textContent(result.value.response),
        hasToolCalls(result.value.response),
        result.value.iterations,
      ],
      ["Sunny.", false, 2],
    );
    assert.deepEqual(server.problems, []);
  });
});
