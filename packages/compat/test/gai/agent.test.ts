/** gai's agents (seed 004): tools with their executors, an immutable agent, a transport. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Type } from "typebox";
import { z } from "zod";
import {
  Agent,
  anthropic,
  appendResponse,
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
  toolCalls,
  toolResult,
  toolResultError,
  userText,
  type CompletionResponse,
  type HttpRequest,
} from "../../src/gai/index.ts";
import { chatText, failing, loopback } from "../../../../test/support/loopback.ts";
import { code } from "../../../../test/support/error-code.ts";

interface Context {
  readonly key: string;
}

const weather = Tool.new({
  name: "get_weather",
  description: "The weather of a place.",
  schema: Type.Object({ location: Type.String(), unit: Type.Optional(Type.String()) }),
  execute: ({ key }: Context, { location, unit = "celsius" }) => {
    // The types are inferred from the schema. Neither is any.
    const place: string = location;
    // @ts-expect-error -- a string is no number
    const wrong: number = location;
    void wrong;
    return ok(`${place} by ${key} in ${unit}`);
  },
});

const search = Tool.new({
  name: "web_search",
  description: "Searches.",
  schema: {
    type: "object",
    properties: { query: { type: "string" }, limit: { type: "integer" } },
    required: ["query"],
  },
  // @ts-expect-error -- there is no field page
  execute: (_ctx: Context, { query, limit = 5, page }) =>
    ok(`${query.toUpperCase()} ${limit.toFixed(0)} ${String(page)}`),
});

describe("gai's tools", () => {
  // Requirements: G1, G2, G4, G17, G32
  it("check types where they are created, and share one list whatever their arguments", async () => {
    const tools: Tool<Context>[] = [weather, search];
    const results = [
      await tools[0]?.run({ key: "k" }, '{"location":"Madrid"}'),
      await tools[1]?.run({ key: "k" }, '{"query":"tapas","limit":2}'),
    ];
    assert.deepEqual(results, [ok("Madrid by k in celsius"), ok("TAPAS 2 undefined")]);
    // @ts-expect-error -- another context
    const wrong: Tool<{ other: number }> = weather;
    assert.ok(wrong);
  });

  // Requirements: G1, G5, G10
  it("have a name, a description and a schema, which also parses the arguments", async () => {
    assert.deepEqual(
      [weather.name, weather.description],
      ["get_weather", "The weather of a place."],
    );
    assert.deepEqual(weather.schemaJson, {
      type: "object",
      properties: { location: { type: "string" }, unit: { type: "string" } },
      required: ["location"],
    });
    const shout = Tool.new({
      name: "shout",
      description: "",
      schema: z.object({ text: z.string().transform((text) => text.toUpperCase()) }),
      execute: (_ctx: undefined, { text }) => ok(text),
    });
    assert.deepEqual(await shout.run(undefined, '{"text":"a"}'), ok("A"));
  });

  // Requirements: G5, G6, G7
  it("never execute invalid arguments, and return a parse error", async () => {
    let ran = false;
    const tool = Tool.new({
      name: "t",
      description: "",
      schema: Type.Object({ n: Type.Integer() }),
      execute: () => {
        ran = true;
        return ok("");
      },
    });
    for (const [text, message] of [
      ['{"n": 1', /^Not run: The arguments are not valid JSON: /],
      ["[1]", /must be a JSON object/],
      ['{"n": "x"}', /^Invalid arguments for tool "t":\n {2}- n: /],
      ["", /^Invalid arguments for tool "t":\n {2}- n: /],
    ] as const) {
      const result = await tool.run(undefined, text);
      assert.ok(!result.ok && result.error.type === "ParseError", text);
      assert.match(result.error.message, message);
      assert.match(errorToString(result.error), /^Parse error: /);
    }
    assert.equal(ran, false);
  });

  // Requirements: G4, G6
  it("fail with the error they return or throw", async () => {
    const make = (
      execute: () => ReturnType<typeof err<{ type: "ExecutionError"; message: string }>>,
    ): Tool => Tool.new({ name: "t", description: "", schema: Type.Object({}), execute });
    const given = make(() => err({ type: "ExecutionError", message: "no" }));
    const thrown = make(() => {
      throw new Error("disk full");
    });
    assert.deepEqual(
      await given.run(undefined, "{}"),
      err({ type: "ExecutionError", message: "no" }),
    );
    assert.deepEqual(
      await thrown.run(undefined, "{}"),
      err({ type: "ExecutionError", message: "disk full" }),
    );
  });

  // Requirements: G8, G9, G10
  it("answer a call under its id, whatever the result", async () => {
    const call = {
      id: "c1",
      name: "get_weather",
      argumentsJson: '{"location":"Madrid","unit":"kelvin"}',
    };
    const good = await weather.executeCall({ key: "k" }, call);
    assert.deepEqual(good, { toolUseId: "c1", content: ok("Madrid by k in kelvin") });
    const bad = await weather.executeCall({ key: "k" }, { ...call, argumentsJson: "{}" });
    assert.equal(bad.toolUseId, "c1");
    assert.ok(!bad.content.ok && bad.content.error.startsWith("Parse error: Invalid arguments"));
  });

  // Requirements: G4
  it("are rejected when no model could accept them", () => {
    const execute = (): ReturnType<typeof ok<string>> => ok("");
    assert.throws(
      () => Tool.new({ name: "a b", description: "", schema: Type.Object({}), execute }),
      code("invalid_argument"),
    );
    assert.throws(
      () => Tool.new({ name: "a", description: "", schema: Type.String(), execute }),
      code("invalid_argument"),
    );
  });
});

describe("gai's agent", () => {
  const provider = anthropic.provider(anthropic.new("sk-1", "claude-x"));

  // Requirements: G12, G13, G16
  it("has no prompt, tools or limits, and ten iterations by default", () => {
    const agent = Agent.new(provider);
    assert.deepEqual(agent.fields, { provider, tools: [], maxIterations: 10 });
    assert.equal(agent.provider, provider);
    assert.deepEqual(agent.tools, []);
  });

  // Requirements: G12, G14
  it("is immutable: each builder returns a new agent", () => {
    const agent = Agent.new<Context>(provider);
    const built = [
      agent.withSystemPrompt("Be brief."),
      agent.withTool(weather),
      agent.withTools([weather, search]),
      agent.withMaxTokens(9),
      agent.withTemperature(0.5),
      agent.withMaxIterations(3),
    ];
    assert.deepEqual(agent.fields, { provider, tools: [], maxIterations: 10 });
    assert.deepEqual(
      built.map(({ tools, fields }) => ({
        ...fields,
        provider: undefined,
        tools: tools.map(({ name }) => name),
      })),
      [
        { provider: undefined, tools: [], maxIterations: 10, systemPrompt: "Be brief." },
        { provider: undefined, tools: ["get_weather"], maxIterations: 10 },
        { provider: undefined, tools: ["get_weather", "web_search"], maxIterations: 10 },
        { provider: undefined, tools: [], maxIterations: 10, maxTokens: 9 },
        { provider: undefined, tools: [], maxIterations: 10, temperature: 0.5 },
        { provider: undefined, tools: [], maxIterations: 3 },
      ],
    );
    assert.throws(() => Object.assign(agent.fields, { maxIterations: 99 }), TypeError);
    assert.throws(() => Object.assign(agent, { tools: [] }), TypeError);
    assert.throws(() => (agent.tools as Tool<Context>[]).push(weather), TypeError);
  });

  // Requirements: G15, G16
  it("puts added tools first, so the later of two equal names wins", () => {
    const other = Tool.new({
      name: "web_search",
      description: "Another.",
      schema: Type.Object({}),
      execute: () => ok(""),
    });
    const agent = Agent.new(provider).withTool(search).withTool(weather).withTools([other]);
    assert.deepEqual(agent.tools, [other, weather, search]);
    assert.equal(agent.findTool("web_search"), other);
    assert.equal(agent.findTool("gone"), undefined);
  });
});

describe("gai's context", () => {
  const agent = Agent.new(anthropic.provider(anthropic.new("sk-1")));
  const runtime = Runtime.new(() => err({ type: "HttpError", status: 0, message: "not used" }));

  // Requirements: G17, G30
  it("is inferred from the tools of an agent, all of them together", () => {
    const port = Tool.new({
      name: "port",
      description: "",
      schema: Type.Object({}),
      execute: ({ port: number }: { port: number }) => ok(String(number)),
    });
    const both: Agent<Context & { port: number }> = agent
      .withTools([weather, search])
      .withTool(port);
    // @ts-expect-error -- a tool takes more than the context of this agent has
    const less: Agent<Context> = both;
    assert.deepEqual(
      less.tools.map(({ name }) => name),
      ["port", "get_weather", "web_search"],
    );
    const more: Agent<Context & { port: number }> = agent.withTool(weather);
    assert.equal(more.findTool("get_weather"), weather);
  });

  // Requirements: G17, G21
  it("is required by a run", async () => {
    const withTool = agent.withTool(weather);
    const results = [
      await run(withTool, { key: "k" }, [userText("Go")], runtime),
      // @ts-expect-error -- the tool takes a key
      await run(withTool, undefined, [userText("Go")], runtime),
      // @ts-expect-error -- a string
      await run(withTool, { key: 1 }, [userText("Go")], runtime),
      await run(agent, undefined, [userText("Go")], runtime),
    ];
    const messages = results.map((result) => (result.ok ? "" : errorToString(result.error)));
    const message =
      "The provider anthropic has no model: set one, or name it in new(apiKey, model).";
    assert.deepEqual(new Set(messages), new Set([`API error (missing_model): ${message}`]));
  });
});

describe("gai's transport", () => {
  const request: HttpRequest = {
    method: "POST",
    url: "http://127.0.0.1:1/v1",
    headers: { "x-a": "1" },
    body: "body",
    signal: new AbortController().signal,
  };

  // Requirements: G18
  it("is one function from a request to a response or an error", async () => {
    const echo = Runtime.new(({ url, body }) => ok({ status: 200, body: `${url} ${body}` }));
    assert.deepEqual(
      await echo.send(request),
      ok({ status: 200, body: "http://127.0.0.1:1/v1 body" }),
    );
    const error = { type: "HttpError", status: 0, message: "no line" } as const;
    assert.deepEqual(await Runtime.new(async () => err(error)).send(request), err(error));
  });

  // Requirements: G18, G19, G20
  it("over fetch returns status and text of any answer, and an error without a cause", async () => {
    await using server = await loopback(failing(418, "tea"), chatText("Hi"));
    const runtime = fetchRuntime();
    const answer = await runtime.send({ ...request, url: server.baseUrl });
    assert.ok(answer.ok);
    assert.deepEqual([answer.value.status, answer.value.body], [418, "tea"]);
    assert.match(answer.value.headers?.["content-type"] ?? "", /^application\/json/);
    assert.deepEqual([server.requests[0]?.body, server.requests[0]?.headers["x-a"]], ["body", "1"]);
    const refused = await runtime.send(request);
    assert.ok(!refused.ok && refused.error.type === "HttpError" && refused.error.status === 0);
    assert.match(refused.error.message, /^HTTP request failed: .*(?:ECONNREFUSED|bad port)/);
  });
});

describe("gai's messages", () => {
  // Requirements: G34
  it("are created by name, and read from a response", () => {
    const text = { type: "text", text: "Hi" } as const;
    assert.deepEqual(
      [system("Hi"), userText("Hi")],
      [
        { role: "system", content: [text] },
        { role: "user", content: [text] },
      ],
    );
    assert.deepEqual(
      [toolResult("c1", "Hi"), toolResultError("c1", "No")],
      [
        { type: "toolResult", toolUseId: "c1", content: "Hi", isError: false },
        { type: "toolResult", toolUseId: "c1", content: "No", isError: true },
      ],
    );
    const use = { type: "toolUse", id: "c1", name: "a", argumentsJson: "{}" } as const;
    const response: CompletionResponse = {
      content: [text, use, text],
      model: "m",
      stopReason: "toolUse",
      usage: {},
    };
    assert.deepEqual(
      [textContent(response), hasToolCalls(response), toolCalls(response)],
      ["HiHi", true, [use]],
    );
    assert.deepEqual(appendResponse([userText("Go")], response), [
      userText("Go"),
      { role: "assistant", content: [text, use, text] },
    ]);
  });

  // Requirements: G6, G11, G34
  it("format errors as the original does", () => {
    assert.deepEqual(
      [
        errorToString({ type: "HttpError", status: 0, message: "no line" }),
        errorToString({ type: "ApiError", code: "max_iterations", message: "Too many" }),
        errorToString({ type: "ParseError", message: "no JSON" }),
        errorToString({ type: "ExecutionError", message: "disk full" }),
      ],
      [
        "HTTP error 0: no line",
        "API error (max_iterations): Too many",
        "Parse error: no JSON",
        "Execution error: disk full",
      ],
    );
  });

  // Requirements: G26, G34
  it("are sent to the vendor of the model, whatever the provider's name", () => {
    const provider = openai.provider(openai.new("sk-1", "gpt-x", "http://127.0.0.1:1/v1"));
    const { name, apiKey, model } = provider;
    assert.deepEqual(
      [name, apiKey, model?.id, model?.api, model?.baseUrl],
      ["openai", "sk-1", "gpt-x", "openai-chat", "http://127.0.0.1:1/v1"],
    );
  });
});
