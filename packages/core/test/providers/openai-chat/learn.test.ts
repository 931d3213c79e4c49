/**
 * Fields that a server refuses by name: replaced at once, and from then on (Q105, Q106, Q112, Q113,
 * Q134).
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantMessageEvent } from "../../../src/llm/event.ts";
import type { AssistantMessage } from "../../../src/llm/message.ts";
import type { Model, StreamOptions } from "../../../src/llm/model.ts";
import {
  streamOpenaiChat,
  streamOpenaiCompatible,
} from "../../../src/providers/openai-chat/index.ts";
import { getModel } from "../../../src/providers/vendors.ts";
import {
  chatText,
  failing,
  loopback,
  streamed,
  type Handler,
  type Loopback,
} from "../../../../../test/support/loopback.ts";

type Json = Record<string, unknown>;

const context = {
  messages: [{ role: "user" as const, content: "Hi", timestamp: 1 }],
  tools: [{ name: "read", description: "Reads.", parameters: { type: "object", properties: {} } }],
};

interface Refusal {
  readonly field: string;
  /** The refused value of the field; without it, any value. */
  readonly value?: string;
  readonly status: number;
  readonly body: object;
}

const openai = (field: string, words: string): object => ({
  error: {
    message: words,
    type: "invalid_request_error",
    param: field,
    code: "unsupported_parameter",
  },
});
const maxTokens: Refusal = {
  field: "max_tokens",
  status: 400,
  body: openai(
    "max_tokens",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  ),
};
const maxCompletionTokens: Refusal = {
  field: "max_completion_tokens",
  status: 400,
  body: openai(
    "max_completion_tokens",
    "Unrecognized: 'max_completion_tokens'. Use 'max_tokens' instead.",
  ),
};
/** In Mistral's wording. */
const streamOptions: Refusal = {
  field: "stream_options",
  status: 422,
  body: {
    object: "error",
    message: {
      detail: [
        {
          type: "extra_forbidden",
          loc: ["body", "stream_options"],
          msg: "Extra inputs are not permitted",
        },
      ],
    },
  },
};
const temperature: Refusal = {
  field: "temperature",
  status: 400,
  body: openai(
    "temperature",
    "Unsupported value: 'temperature' does not support 0.2 with this model.",
  ),
};
const metadata: Refusal = {
  field: "metadata",
  status: 400,
  body: openai("metadata", "The 'metadata' parameter is only allowed when 'store' is enabled."),
};
const effort = (value: string): Refusal => ({
  field: "reasoning_effort",
  value,
  status: 400,
  body: openai(
    "reasoning_effort",
    `Unsupported value: 'reasoning_effort' does not support '${value}' with this model.`,
  ),
});

/** Refuses any value of the field but these, in the given words. */
const choosy =
  (field: string, words: string, ...taken: unknown[]): Handler =>
  (response, request, text) => {
    const value = (JSON.parse(text) as Json)[field];
    const answer =
      value === undefined || taken.includes(value)
        ? chatText("Hello")
        : failing(400, openai(field, words));
    return answer(response, request, text);
  };

/** Refuses the first of these that matches a request. */
const picky =
  (...refusals: readonly Refusal[]): Handler =>
  (response, request, text) => {
    const body = JSON.parse(text) as Json;
    const met = refusals.find(
      ({ field, value }) => field in body && (value === undefined || body[field] === value),
    );
    const answer = met === undefined ? chatText("Hello") : failing(met.status, met.body);
    return answer(response, request, text);
  };

interface Outcome {
  readonly message: AssistantMessage;
  readonly retries: Extract<AssistantMessageEvent, { type: "request_retry" }>[];
}

async function ask(
  model: Model,
  options: StreamOptions,
  stream = streamOpenaiCompatible,
): Promise<Outcome> {
  const retries: Outcome["retries"] = [];
  const answering = stream(model, context, { random: () => 0, ...options });
  for await (const event of answering) if (event.type === "request_retry") retries.push(event);
  return { message: await answering.result(), retries };
}

const at = ({ baseUrl }: Loopback, fields: Partial<Model> = {}): Model =>
  getModel("custom", "m", { baseUrl, ...fields });
/** The values of these fields in each request. */
const sent = ({ requests }: Loopback, ...fields: readonly string[]): unknown[][] =>
  requests.map(({ body }) => fields.map((field) => (JSON.parse(body) as Json)[field]));

const ways: readonly [
  name: string,
  refusal: Refusal,
  options: StreamOptions,
  fields: string[],
  sent: unknown[][],
][] = [
  [
    // Q105
    "sends max_completion_tokens in place of max_tokens",
    maxTokens,
    { maxTokens: 9 },
    ["max_tokens", "max_completion_tokens"],
    [
      [9, undefined],
      [undefined, 9],
    ],
  ],
  [
    // Q106
    "omits stream_options",
    streamOptions,
    {},
    ["stream_options", "stream"],
    [
      [{ include_usage: true }, true],
      [undefined, true],
    ],
  ],
  [
    // Q113
    "omits the temperature",
    temperature,
    { temperature: 0.2 },
    ["temperature"],
    [[0.2], [undefined]],
  ],
  [
    "what goes with answers that are stored is left out",
    metadata,
    { metadata: { user_id: "u" } },
    ["metadata"],
    [[{ user_id: "u" }], [undefined]],
  ],
  [
    // Q134
    "sends the effort minimal as low",
    effort("minimal"),
    { reasoning: "minimal" },
    ["reasoning_effort"],
    [["minimal"], ["low"]],
  ],
  [
    // Q134
    "sends the effort xhigh as high",
    effort("xhigh"),
    { reasoning: "xhigh" },
    ["reasoning_effort"],
    [["xhigh"], ["high"]],
  ],
];

describe("if a server refuses a field by its name, the compatible wire", () => {
  for (const [name, refusal, options, fields, expected] of ways) {
    it(`${name}, once, with an event, and from then on in the first request`, async () => {
      await using server = await loopback(picky(refusal));
      const model = at(server);
      const before = structuredClone(model);
      const { message, retries } = await ask(model, options);
      assert.deepEqual([message.stopReason, message.error], ["stop", undefined]);
      assert.deepEqual(
        retries.map(({ attempt, delayMs, error }) => [attempt, delayMs, error.code, error.status]),
        [[1, 0, "invalid_request", refusal.status]],
      );
      assert.match(retries[0]?.error.message ?? "", new RegExp(refusal.field));
      assert.deepEqual(sent(server, ...fields), expected);
      assert.deepEqual((await ask(model, options)).retries, []);
      assert.deepEqual(sent(server, ...fields), [...expected, expected[1]]);
      assert.deepEqual(model, before, "the caller's model stays as it is");
    });
  }

  // Q134
  it("sends plain efforts immediately to a model known to need them, and others as requested", async () => {
    await using server = await loopback(chatText("Hello"));
    const plain = at(server, { compat: { plainEfforts: true } });
    for (const model of [plain, at(server)])
      for (const reasoning of ["minimal", "low", "medium", "high", "xhigh", "max"] as const)
        await ask(model, { reasoning });
    await ask(plain, {});
    assert.deepEqual(sent(server, "reasoning_effort").flat(), [
      "low",
      "low",
      "medium",
      "high",
      "high",
      "high",
      "minimal",
      "low",
      "medium",
      "high",
      "xhigh",
      "xhigh",
      undefined,
    ]);
    const known = ["groq", "together", "fireworks", "cerebras", "xai"].map(
      (id) => getModel(id, "m").compat?.plainEfforts,
    );
    assert.deepEqual(known, [true, true, true, true, true]);
  });

  // Q134
  it("omits the effort when the plain ones are refused, too", async () => {
    const groq = "`reasoning_effort` must be one of `none` or `default`";
    const xai = "Model grok-4.20-0309-reasoning does not support parameter reasoningEffort.";
    for (const words of [groq, xai]) {
      await using server = await loopback(choosy("reasoning_effort", words, "none", "default"));
      const model = at(server);
      for (const asked of [["xhigh", "high", undefined], [undefined]]) {
        const before = server.requests.length;
        assert.equal((await ask(model, { reasoning: "xhigh" })).message.stopReason, "stop");
        assert.deepEqual(sent(server, "reasoning_effort").slice(before).flat(), asked);
      }
      const known = at(server, { compat: { plainEfforts: true } });
      assert.equal((await ask(known, { reasoning: "low" })).retries.length, 1);
    }
  });

  // Q112
  it("leaves the tool choice to the model when thinking forbids it, and warns the caller", async () => {
    const refusals = [
      "Thinking mode does not support this tool_choice",
      "The tool_choice parameter does not support being set to required or object in thinking mode",
      "tool_choice 'required' is incompatible with thinking enabled",
      "only `auto` is supported for `tool_choice`",
    ];
    for (const words of refusals) {
      await using server = await loopback(choosy("tool_choice", words, "auto", "none"));
      const model = at(server);
      const heard: string[] = [];
      const options: StreamOptions = {
        toolChoice: "required",
        onWarning: ({ code }) => heard.push(code),
      };
      for (const asked of [["required", "auto"], ["auto"]]) {
        const before = server.requests.length;
        assert.equal((await ask(model, options)).message.stopReason, "stop", words);
        assert.deepEqual(sent(server, "tool_choice").slice(before).flat(), asked);
      }
      assert.deepEqual(heard, ["tool_choice_weakened", "tool_choice_weakened"]);
    }
  });

  // Q105
  it("replaces max_completion_tokens by max_tokens, too", async () => {
    await using server = await loopback(picky(maxCompletionTokens));
    const model = at(server, { compat: { maxTokensField: "max_completion_tokens" } });
    assert.equal((await ask(model, { maxTokens: 9 })).message.stopReason, "stop");
    assert.deepEqual(sent(server, "max_completion_tokens", "max_tokens"), [
      [9, undefined],
      [undefined, 9],
    ]);
  });

  // Q105, Q106, Q113
  it("learns each field in turn", async () => {
    await using server = await loopback(picky(streamOptions, maxTokens, temperature));
    const { message, retries } = await ask(at(server), { maxTokens: 9, temperature: 0.2 });
    assert.deepEqual([message.stopReason, retries.length, server.requests.length], ["stop", 3, 4]);
  });

  // Q105
  it("asks a server that refuses both names twice, and reports the last refusal", async () => {
    await using server = await loopback(picky(maxTokens, maxCompletionTokens));
    const { message } = await ask(at(server), { maxTokens: 9 });
    assert.deepEqual([message.error?.code, server.requests.length], ["invalid_request", 2]);
    assert.match(message.errorMessage ?? "", /max_completion_tokens/);
  });

  // Q105, Q113
  it("learns nothing from a value that is too large", async () => {
    const refusals = [
      "max_tokens is too large: 99999. This model takes at most 4096.",
      "This model only supports max_tokens up to 4096.",
      "temperature must be between 0 and 2",
    ];
    for (const message of refusals) {
      await using server = await loopback(failing(400, { error: { message } }));
      const answer = await ask(at(server), { maxTokens: 99_999, temperature: 9 });
      assert.deepEqual(
        [answer.message.error?.code, server.requests.length],
        ["invalid_request", 1],
        message,
      );
    }
  });

  // Q113
  it("retries once for a fix that does not help, and never again: the refusal is reported", async () => {
    await using server = await loopback(picky(temperature));
    const model = at(server);
    const options = { extraBody: { temperature: 0.2 } };
    for (const requests of [2, 3]) {
      const { message } = await ask(model, options);
      assert.deepEqual(
        [message.error?.code, server.requests.length],
        ["invalid_request", requests],
      );
    }
  });

  // Q105
  it("does not retry with maxRetries: 0 or on the plain wire", async () => {
    await using server = await loopback(picky(maxTokens));
    assert.equal(
      (await ask(at(server), { maxTokens: 9, maxRetries: 0 })).message.error?.status,
      400,
    );
    assert.equal(
      (await ask(at(server), { maxTokens: 9 }, streamOpenaiChat)).message.error?.status,
      400,
    );
    assert.equal(server.requests.length, 2);
  });

  // Q106
  it("does not retry after output", async () => {
    const late = { error: { code: 400, message: "stream_options is not supported" } };
    await using server = await loopback(
      streamed({ choices: [{ index: 0, delta: { content: "Hel" } }] }, late),
    );
    const { message } = await ask(at(server), {});
    assert.deepEqual([message.error?.code, server.requests.length], ["invalid_request", 1]);
  });

  // Q105
  it("learns separately for each model", async () => {
    await using server = await loopback(picky(maxTokens));
    await ask(at(server), { maxTokens: 9 });
    await ask(at(server), { maxTokens: 9 });
    assert.equal(server.requests.length, 4);
  });

  // Q106
  it("ends with hook_failed when a hook throws on the changed request", async () => {
    await using server = await loopback(picky(streamOptions));
    let seen = 0;
    const onPayload = (payload: Json): Json => {
      if (++seen > 1) throw new Error("once is enough");
      return payload;
    };
    const { message } = await ask(at(server), { onPayload });
    assert.deepEqual([message.error?.code, server.requests.length], ["hook_failed", 1]);
  });

  // Q237
  it("stops on an abort", async () => {
    const controller = new AbortController();
    await using server = await loopback((response, request, body) => {
      controller.abort();
      return failing(400, maxTokens.body)(response, request, body);
    });
    const { message } = await ask(at(server), { maxTokens: 9, signal: controller.signal });
    assert.deepEqual([message.stopReason, server.requests.length], ["aborted", 1]);
  });
});
