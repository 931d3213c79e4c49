/**
 * A custom provider with the seed's two functions, and runs that continue the messages of a result.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Type } from "typebox";
import {
  Agent,
  err,
  errorToString,
  ok,
  run,
  Runtime,
  system,
  textContent,
  Tool,
  toolResult,
  toolResultError,
  userText,
  type CompletionRequest,
  type CompletionResponse,
  type Content,
  type HttpRequest,
  type HttpResponse,
  type Provider,
  type ProviderRequest,
} from "../../src/gai/index.ts";
import { getModel } from "@bowline/core";
import { createScriptedModel } from "@bowline/core/testing";

const look = Tool.new({
  name: "look",
  description: "Looks.",
  schema: Type.Object({ at: Type.String() }),
  execute: (_ctx: unknown, { at }) => ok(`a rope at ${at}`),
});
const text = (said: string): Content => ({ type: "text", text: said });
const use = (argumentsJson: string): Content => ({
  type: "toolUse",
  id: "c1",
  name: "look",
  argumentsJson,
});

interface Rig {
  readonly provider: Provider;
  readonly runtime: Runtime;
  readonly asked: CompletionRequest[];
  readonly sent: HttpRequest[];
}

/**
 * A provider for an invented API: the request body is the number of messages, the response is the
 * content.
 */
function rig(answers: readonly { content: readonly Content[]; stop?: string }[]): Rig {
  const asked: CompletionRequest[] = [];
  const sent: HttpRequest[] = [];
  const provider: Provider = {
    name: "own",
    buildRequest(request) {
      asked.push(request);
      const body = String(request.messages.length);
      return { method: "POST", url: "https://own.test/v1", headers: { "x-key": "k" }, body };
    },
    async parseResponse({ status, body }) {
      if (status !== 200) return err({ type: "HttpError", status, message: body });
      const { content, stop = "end_turn" } = JSON.parse(body) as (typeof answers)[number];
      return ok({ content, model: "own-1", stopReason: stop, usage: { input: 3, output: 1 } });
    },
  };
  const runtime = Runtime.new((request) => {
    sent.push(request);
    const answer = answers[sent.length - 1];
    return ok(
      answer ? { status: 200, body: JSON.stringify(answer) } : { status: 503, body: "busy" },
    );
  });
  return { provider, runtime, asked, sent };
}

describe("gai's provider of buildRequest and parseResponse", () => {
  // Requirements: G26, G28, G34, X19
  it("answers a run with tools over its runtime", async () => {
    const { provider, runtime, asked, sent } = rig([
      { content: [text("I look."), use('{"at":"bow"}')] },
      { content: [text("A rope.")] },
    ]);
    const agent = Agent.new(provider)
      .withSystemPrompt("Be brief.")
      .withTool(look)
      .withMaxTokens(50)
      .withTemperature(0.5);
    const result = await run(agent, undefined, [userText("Look.")], runtime);
    assert.ok(result.ok, JSON.stringify(result));
    const { response, messages, iterations } = result.value;
    assert.deepEqual([textContent(response), iterations], ["A rope.", 2]);
    assert.deepEqual([response.model, response.usage], ["own-1", { input: 3, output: 1 }]);
    const { name, description, schemaJson } = look;
    assert.deepEqual(asked[0], {
      model: "own",
      messages: [system("Be brief."), userText("Look.")],
      tools: [{ name, description, schemaJson }],
      maxTokens: 50,
      temperature: 0.5,
    });
    const looked = toolResult("c1", "a rope at bow");
    const history = [
      ...(asked[0]?.messages ?? []),
      { role: "assistant", content: [text("I look."), use('{"at":"bow"}')] },
      { role: "user", content: [looked] },
    ];
    assert.deepEqual(asked[1]?.messages, history);
    assert.deepEqual(messages, [...history, { role: "assistant", content: [text("A rope.")] }]);
    const [{ method, url, headers, body, signal }] = sent as [HttpRequest];
    assert.deepEqual(
      [method, url, headers, body],
      ["POST", "https://own.test/v1", { "x-key": "k" }, "2"],
    );
    assert.ok(signal instanceof AbortSignal);
  });

  // Requirements: G26
  it("is asked for the id of its model", async () => {
    const { provider, runtime, asked } = rig([{ content: [text("Hi")] }]);
    const model = getModel("openai", "gpt-x");
    const result = await run(
      Agent.new({ ...provider, model }),
      undefined,
      [userText("Go")],
      runtime,
    );
    assert.deepEqual([result.ok, asked[0]?.model], [true, "gpt-x"]);
  });

  // Requirements: G29
  it("ends the run with an error that it parses, that its runtime returns, or that it throws", async () => {
    const { provider, runtime } = rig([{ content: [use('{"at":"bow"}')] }]);
    const noLine = Runtime.new(() => err({ type: "HttpError", status: 0, message: "no line" }));
    const broken: Provider = {
      ...provider,
      buildRequest: () => {
        throw new Error("no key");
      },
    };
    const failed = [
      await run(Agent.new(provider).withTool(look), undefined, [userText("Go")], runtime),
      await run(Agent.new(provider), undefined, [userText("Go")], noLine),
      await run(Agent.new(broken), undefined, [userText("Go")], runtime),
    ].map((result) => (result.ok ? assert.fail("no error") : result.error));
    assert.deepEqual(
      failed.slice(0, 2).map((error) => errorToString(error)),
      ["HTTP error 503: busy", "HTTP error 0: no line"],
    );
    assert.match(errorToString(failed[2] as (typeof failed)[number]), /no key/);
    assert.deepEqual(
      failed.map(({ messages }) => messages.length),
      [3, 1, 1],
    );
  });

  for (const stop of ["max_tokens", "length"]) {
    // Requirements: G28, X29
    it(`does not run calls of an answer that ended by ${stop}, and answers them`, async () => {
      const { provider, runtime, asked } = rig([
        { content: [use('{"at":"bow"}')], stop },
        { content: [text("Sorry.")] },
      ]);
      const agent = Agent.new(provider).withTool(look);
      assert.ok((await run(agent, undefined, [userText("Go")], runtime)).ok);
      const [result] = asked[1]?.messages.at(-1)?.content ?? [];
      assert.ok(result?.type === "toolResult" && result.isError);
      assert.match(result.content, /token limit/);
    });
  }

  // Requirements: G7, X5
  it("answers invalid JSON arguments with a parse error", async () => {
    const { provider, runtime, asked } = rig([
      { content: [use('{"at')] },
      { content: [text("Sorry.")] },
    ]);
    await run(Agent.new(provider).withTool(look), undefined, [userText("Go")], runtime);
    const [result] = asked[1]?.messages.at(-1)?.content ?? [];
    assert.ok(result?.type === "toolResult");
    assert.match(result.content, /^Parse error: Not run: .* You wrote: \{"at$/);
    assert.deepEqual(result, toolResultError("c1", result.content));
  });

  // Requirements: G34
  it("may be an instance of a class", async () => {
    class Own implements Provider {
      readonly name = "own";
      readonly #url = "https://own.test/v1";
      buildRequest(): ProviderRequest {
        return { method: "GET", url: this.#url, headers: {}, body: "" };
      }
      parseResponse({ body }: HttpResponse): ReturnType<typeof ok<CompletionResponse>> {
        const said = `${this.name}: ${body}`;
        return ok({ content: [text(said)], model: "m", stopReason: "stop", usage: {} });
      }
    }
    const runtime = Runtime.new(({ url }) => ok({ status: 200, body: url }));
    const result = await run(Agent.new(new Own()), undefined, [userText("Go")], runtime);
    assert.ok(result.ok, JSON.stringify(result));
    assert.equal(textContent(result.value.response), "own: https://own.test/v1");
  });

  // Requirements: G34
  it("fails with missing_model when it has one of the two functions only", async () => {
    const { buildRequest: _, ...half } = rig([]).provider;
    const result = await run(Agent.new(half), undefined, [userText("Go")], rig([]).runtime);
    assert.ok(!result.ok && result.error.type === "ApiError");
    assert.equal(result.error.code, "missing_model");
  });
});

describe("gai's system prompt", () => {
  const scripted = (...script: string[]) => {
    const { model, streamFn, calls } = createScriptedModel(script);
    return { agent: Agent.new({ name: "scripted", model, streamFn }), calls };
  };
  const runtime = Runtime.new(() => err({ type: "HttpError", status: 0, message: "not used" }));

  // Requirements: G22, G23
  it("is not repeated when a run continues with the messages of a result", async () => {
    const { agent, calls } = scripted("One.", "Two.", "Three.");
    const prompted = agent.withSystemPrompt("Be brief.");
    let messages = [userText("1")];
    for (const next of ["2", "3"]) {
      const result = await run(prompted, undefined, messages, runtime);
      assert.ok(result.ok);
      messages = [...result.value.messages, userText(next)];
    }
    const last = await run(prompted, undefined, messages, runtime);
    assert.ok(last.ok);
    assert.deepEqual(
      last.value.messages.map(({ role }) => role),
      ["system", "user", "assistant", "user", "assistant", "user", "assistant"],
    );
    assert.deepEqual(
      calls.map(({ context }) => context.systemPrompt),
      ["Be brief.", "Be brief.", "Be brief."],
    );
  });

  // Requirements: G23
  it("comes after those in the messages, and is not repeated", async () => {
    const { agent, calls } = scripted("Hi.");
    const messages = [system("In rhyme."), system("Be brief."), userText("Go")];
    const result = await run(agent.withSystemPrompt("Be brief."), undefined, messages, runtime);
    assert.ok(result.ok);
    assert.equal(calls[0]?.context.systemPrompt, "In rhyme.\n\nBe brief.");
  });
});
