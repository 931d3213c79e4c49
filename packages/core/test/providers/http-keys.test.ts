/**
 * Refused keys: an expired key is replaced once if another one is available (Q226), and the error
 * says whether a key was sent, without quoting it.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, type AgentEvent, type AgentOptions } from "../../src/agent/index.ts";
import { messageText } from "../../src/llm/message.ts";
import type { StreamFn, StreamOptions } from "../../src/llm/model.ts";
import { streamByProtocol } from "../../src/providers/by-protocol.ts";
import { complete } from "../../src/providers/complete.ts";
import { anthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { googleGenerate } from "../../src/providers/google-generate/index.ts";
import {
  openaiChat,
  openaiCompatible,
  streamOpenaiChat,
} from "../../src/providers/openai-chat/index.ts";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { asEvents, data, hello, refused, say } from "../transport/http-case.ts";
import { http, serveBytes, type Answer } from "../transport/http-server.ts";
import { finalMessage } from "../../../../test/support/final-message.ts";
import { short } from "../support.ts";

const expired = refused(401, {}, "The token has expired.");

interface Outcome {
  readonly events: AgentEvent[];
  readonly names: string[];
  readonly reason: string;
  readonly text: string | undefined;
  readonly code: string | undefined;
  /** The key of each request. */
  readonly keys: (string | undefined)[];
  /** The number of getApiKey calls. */
  readonly asked: number;
}

async function run(
  answers: readonly Answer[],
  keys: readonly (string | undefined | Error)[],
  more: AgentOptions = {},
): Promise<Outcome> {
  await using server = await serveBytes(answers);
  let asked = 0;
  const agent = new Agent({
    initialState: { model: getModel("custom", "the-model", { baseUrl: `${server.origin}/v1` }) },
    streamFn: streamOpenaiChat,
    getApiKey: () => {
      const key = keys[Math.min(asked++, keys.length - 1)];
      if (key instanceof Error) throw key;
      return key;
    },
    ...more,
  });
  const events: AgentEvent[] = [];
  agent.subscribe((event) => void events.push(event));
  const { reason, message, error } = await agent.prompt("Hi");
  const last = agent.state.messages.at(-1);
  const failed = last?.role === "assistant" ? last.error?.code : undefined;
  return {
    events,
    names: events.map(short),
    reason,
    text: message && messageText(message),
    code: failed ?? error?.code,
    keys: server.requests.map(({ headers }) => headers.authorization?.replace("Bearer ", "")),
    asked,
  };
}

describe("a key that was refused", () => {
  // Q226
  it("is replaced once by another getApiKey call, with an event, before any output", async () => {
    const { names, events, ...outcome } = await run([expired, hello], ["old", "new"]);
    assert.deepEqual(outcome, {
      reason: "done",
      text: "Hello.",
      code: undefined,
      keys: ["old", "new"],
      asked: 2,
    });
    const from = names.indexOf("message_end:user");
    assert.deepEqual(names.slice(from + 1, from + 3), ["request_retry", "message_start:assistant"]);
    const retry = events.find(({ type }) => type === "request_retry");
    assert.ok(retry?.type === "request_retry");
    const { attempt, delayMs, error } = retry;
    assert.deepEqual(
      [attempt, delayMs, error.code, error.status],
      [1, 0, "authentication_failed", 401],
    );
    assert.equal(names.filter((name) => name === "message_start:assistant").length, 1);
    assert.equal(JSON.stringify(events).includes("old"), false);
  });

  // Q226
  it("fails for good when there is no other", async () => {
    for (const keys of [["old"], ["old", undefined], ["old", ""]]) {
      const { names, ...outcome } = await run([expired, hello], keys);
      assert.deepEqual(
        [outcome.reason, outcome.code, outcome.keys],
        ["error", "authentication_failed", ["old"]],
      );
      assert.equal(outcome.asked, 2);
      assert.equal(names.includes("request_retry"), false);
      const starts = names.filter((name) => name === "message_start:assistant");
      assert.deepEqual(starts.length, 1);
    }
  });

  // Q226
  it("is replaced only once per call", async () => {
    const { names, ...outcome } = await run([expired, expired, hello], ["old", "new", "newer"]);
    assert.deepEqual([outcome.reason, outcome.code], ["error", "authentication_failed"]);
    assert.deepEqual([outcome.keys, outcome.asked], [["old", "new"], 2]);
    assert.equal(names.filter((name) => name === "request_retry").length, 1);
  });

  // Q226
  it("is not replaced without getApiKey, and never by the fixed apiKey", async () => {
    const set = await run([expired, hello], ["own"], { apiKey: "own" });
    assert.deepEqual([set.reason, set.keys], ["error", ["own"]]);
    const alone = await run([expired, hello], [undefined], { apiKey: "own" });
    assert.deepEqual([alone.reason, alone.keys], ["error", ["own"]]);
  });

  // Q226
  it("may be undefined: a server that requires one gets the next value of getApiKey", async () => {
    const { keys, text } = await run([expired, hello], [undefined, "new"]);
    assert.deepEqual([keys, text], [[undefined, "new"], "Hello."]);
  });

  // Q226
  it("is not replaced after output, which stays", async () => {
    const late = http(
      200,
      asEvents,
      data(say("Hel"), { error: { code: 401, message: "The token has expired." } }),
    );
    const { keys, code, asked } = await run([late, hello], ["old", "new"]);
    assert.deepEqual([keys, code, asked], [["old"], "authentication_failed", 1]);
  });

  // Q226
  it("is replaced also when a 200 stream begins with the refusal, in a stream of single events", async () => {
    const early = http(
      200,
      asEvents,
      data({ error: { code: 401, message: "The token has expired." } }),
    );
    const streamFn: StreamFn = (...call) =>
      (async function* () {
        yield* streamOpenaiChat(...call);
      })();
    const { keys, text, names } = await run([early, hello], ["old", "new"], { streamFn });
    assert.deepEqual([keys, text], [["old", "new"], "Hello."]);
    assert.ok(names.indexOf("request_retry") < names.indexOf("message_start:assistant"));
  });

  // Q226
  it("ends the run with hook_failed when the second getApiKey call fails", async () => {
    const { reason, code, keys } = await run([expired, hello], ["old", new Error("vault")]);
    assert.deepEqual([reason, code, keys], ["error", "hook_failed", ["old"]]);
  });

  // Q237
  it("is not requested again after an abort", async () => {
    await using server = await serveBytes([expired, hello]);
    let asked = 0;
    const agent = new Agent({
      initialState: { model: getModel("custom", "the-model", { baseUrl: `${server.origin}/v1` }) },
      streamFn: streamOpenaiChat,
      getApiKey: () => {
        if (++asked === 2) agent.abort();
        return `key ${asked}`;
      },
    });
    assert.equal((await agent.prompt("Hi")).reason, "aborted");
    assert.deepEqual([asked, server.requests.length], [2, 1]);
  });
});

describe("a request with a key", () => {
  /** The text of the error, without its URL. */
  async function said(
    answer: Answer,
    options: StreamOptions,
    api = "openai-chat",
  ): Promise<string> {
    await using server = await serveBytes([answer]);
    const model = { ...getModel("custom", "the-model", { baseUrl: `${server.origin}/v1` }), api };
    const messages = [{ role: "user" as const, content: "Hi", timestamp: 1 }];
    const stream = await streamByProtocol(model, { messages }, { maxRetries: 0, ...options });
    for await (const event of stream)
      if (event.type === "error")
        return event.error.errorMessage?.replace(/http:\S+/, "<url>") ?? "";
    return assert.fail("it was not refused");
  }
  const dummies = ["ollama", "key", "k", "EMPTY", "sk-1234", "none", " ollama "];
  const words = "ask ollama for the key: k, EMPTY, sk-1234 or none";

  it("keeps the words of an error in which a placeholder key occurs", async () => {
    for (const apiKey of dummies)
      for (const status of [401, 404])
        assert.ok((await said(refused(status, {}, words), { apiKey })).endsWith(words));
  });

  it("redacts a key of eight characters or more anywhere in an error", async () => {
    for (const apiKey of [
      "hunter22",
      "sk-abcdefghijklmnop",
      "0123456789abcdef0123456789abcdef",
      " padded-key\n",
    ]) {
      const key = apiKey.trim();
      const message = await said(refused(401, {}, `${key} and x${key}, ${key}${key}`), { apiKey });
      assert.ok(message.endsWith("refused the API key: [key] and x[key], [key][key]"), message);
    }
  });

  it("redacts a key at the place where a long error is cut", async () => {
    const apiKey = "0123456789abcdef0123456789abcdef";
    for (let before = 440; before < 600; before += 10) {
      const long = `${"-".repeat(before)}${apiKey} is refused`;
      assert.doesNotMatch(
        await said(refused(401, {}, long), { apiKey }),
        /01234567/,
        `after ${before} characters`,
      );
    }
  });

  it("redacts secrets in a URL, whether the server answers, redirects or is unreachable", async () => {
    await using server = await serveBytes([
      refused(404, {}, "Nothing here."),
      refused(307, { location: "https://elsewhere.example/v1?sig=hunter23&alt=sse" }, ""),
    ]);
    const asked = async (baseUrl: string): Promise<string> => {
      const messages = [{ role: "user" as const, content: "Hi", timestamp: 1 }];
      const model = getModel("custom", "m", { baseUrl });
      const answering = complete(model, { messages }, { maxRetries: 0 });
      const { errorMessage = "" } = await finalMessage(answering);
      return errorMessage;
    };
    const { origin } = server;
    const { host } = new URL(origin);
    const answered = "answered HTTP 404 (check the base URL and the model's name): Nothing here.";
    assert.equal(
      await asked(`${origin}/v1?api-version=2&api_key=hunter22`),
      `The server at ${origin}/v1/chat/completions?api-version=2&api_key=[key] ${answered}`,
    );
    assert.match(
      await asked(`${origin}/v1`),
      /redirects to https:\/\/elsewhere\.example\/v1\?sig=\[key\]&alt=sse: use/,
    );
    const refusedByFetch = await asked(`http://me:hunter22@${host}/v1`);
    assert.ok(
      refusedByFetch.startsWith(`Could not reach http://[key]@${host}/v1/`),
      refusedByFetch,
    );
    assert.doesNotMatch(refusedByFetch, /hunter22/);
  });

  it("redacts a key that a header cannot carry, though fetch quotes it", async () => {
    const headers = { authorization: "Bearer sk-first-line\nsecond-line" };
    const quoted = await said(hello, { headers });
    assert.match(quoted, /^Could not reach <url> .*\[key\]/s);
    assert.doesNotMatch(quoted, /first|second/);
    for (const apiKey of ["sk-first-line\nsecond-line", "sk-abcdefgh…wxyz"]) {
      const message =
        "The apiKey has a character that HTTP headers cannot carry. Check that it was copied correctly.";
      await assert.rejects(said(hello, { apiKey }), { code: "invalid_argument", message });
    }
  });

  it("cuts a long error text", async () => {
    const message = await said(refused(404, {}, "long ".repeat(9000)), {});
    assert.match(message, /^The server at <url> answered HTTP 404.*[long ]+…$/);
    assert.ok(message.length < 700, `${message.length}`);
  });

  it("redacts a key that was given in a header, with any scheme", async () => {
    for (const headers of [
      { "Api-Key": "hunter22" },
      { Authorization: "Bearer hunter22" },
      { authorization: "hunter22" },
    ])
      assert.ok(
        (
          await said(refused(404, {}, "no hunter22 for my-title"), {
            headers: { ...headers, "x-title": "my-title" },
          })
        ).endsWith("no [key] for my-title"),
      );
  });

  // Q135
  it("sends the key without a scheme in the model's key header, over every wire", () => {
    for (const wire of [
      openaiChat,
      openaiCompatible,
      anthropicMessages,
      openaiResponses,
      googleGenerate,
    ]) {
      const model = getModel("custom", "m", {
        baseUrl: "http://h",
        compat: { keyHeader: "api-key" },
      });
      const { headers } = wire.encode(
        model,
        { messages: [{ role: "user", content: "Hi", timestamp: 1 }] },
        { apiKey: " k " },
      );
      assert.equal(headers["api-key"], "k", wire.api);
      for (const usual of ["authorization", "x-api-key", "x-goog-api-key"])
        assert.ok(!(usual in headers), wire.api);
    }
  });

  for (const api of ["openai-chat", "anthropic-messages", "openai-responses", "google-generate"])
    it(`distinguishes a wrong key from a missing one, over ${api}`, async () => {
      const answer = refused(401, {}, "No entry.");
      const wrong = "The server at <url> answered HTTP 401 and refused the API key: No entry.";
      const none = "The server at <url> answered HTTP 401 (no apiKey was sent): No entry.";
      assert.equal(await said(answer, { apiKey: "wrong-key" }, api), wrong);
      assert.equal(
        await said(answer, { headers: { Authorization: "Bearer wrong-key" } }, api),
        wrong,
      );
      for (const options of [{}, { apiKey: "" }, { apiKey: " " }, { headers: { "x-other": "a" } }])
        assert.equal(await said(answer, options, api), none);
    });
});
