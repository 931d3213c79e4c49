/**
 * The doctor's judgement without servers: from bytes to traits, from traits to findings, from
 * findings to a verdict.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantMessage } from "@bowline/core";
import { relaxations } from "../src/doctor/answer.ts";
import { isCallInText, readCallTraits } from "../src/doctor/calls.ts";
import { refusal, windowIn } from "../src/doctor/errors.ts";
import type { Finding } from "../src/doctor/finding.ts";
import { parseProfile } from "../src/doctor/profile.ts";
import type { Reply } from "../src/doctor/reply.ts";
import { reportText } from "../src/doctor/report.ts";
import { limitOf } from "../src/doctor/request-options.ts";
import { isBurst, streamingFindings } from "../src/doctor/streaming.ts";
import { firstCallFinding, severalFinding } from "../src/doctor/tools.ts";
import { isUsable, judge, toProfile } from "../src/doctor/verdict.ts";
import { readWire } from "../src/doctor/wire.ts";

const ok: Finding = { id: "answer", area: "answer", mark: "ok", says: "answers" };
const plain = (text: string): string => text;
const style = { dim: plain, bold: plain, red: plain, green: plain, yellow: plain };

function reply(fields: Partial<AssistantMessage>, body = "", status = 200): Reply {
  const message: AssistantMessage = {
    role: "assistant",
    content: [],
    api: "openai-chat",
    provider: "custom",
    model: "m",
    usage: {},
    stopReason: "stop",
    timestamp: 0,
    ...fields,
  };
  const exchange = { status, contentType: "text/event-stream", body: () => body, arrivals: [] };
  return { message, wire: readWire(body), exchange };
}

function failure(
  code: "invalid_request" | "server_error",
  text: string,
): Partial<AssistantMessage> {
  return { stopReason: "error", error: { code, message: text, retryable: false } };
}

describe("the verdict", () => {
  it("is the worst of the findings", () => {
    const blocked: Finding = {
      id: "x",
      area: "tools",
      mark: "failed",
      says: "calls are text",
      blocks: "tools",
    };
    const fatal: Finding = {
      id: "y",
      area: "answer",
      mark: "failed",
      says: "HTTP 500",
      blocks: "use",
    };
    assert.deepEqual(judge([ok], {}), { kind: "works", text: "works with Bowline as it is" });
    assert.equal(
      judge([ok], { noTemperature: true }).text,
      "works with these settings: no temperature",
    );
    assert.equal(
      judge([ok, blocked], {}).text,
      "cannot use tools: calls are text; plain questions work",
    );
    assert.match(
      judge([ok, blocked], { streamUsage: false }).text,
      /plain questions work; needs no stream_options$/,
    );
    assert.deepEqual(judge([blocked, fatal], {}), {
      kind: "unusable",
      text: "not usable: HTTP 500",
    });
  });

  it("mentions a check that saw nothing and one that failed", () => {
    const unseen: Finding = { id: "tool-call", area: "tools", mark: "not seen", says: "no call" };
    const broken: Finding = {
      id: "tool-calls",
      area: "tools",
      mark: "failed",
      says: "calls run together",
    };
    assert.match(
      judge([unseen], {}).text,
      /^works with Bowline as it is; it is unknown whether tools work/,
    );
    assert.equal(judge([broken], {}).text, "works with Bowline as it is; but calls run together");
  });

  it("lists what can be used", () => {
    const kinds = ["works", "settings", "no-tools", "unusable", "stopped"] as const;
    assert.deepEqual(
      kinds.map((kind) => isUsable({ verdict: { kind, text: "" } })),
      [true, true, true, false, false],
    );
  });

  it("writes deviations into a profile that can be read back", () => {
    const odd: Finding = { id: "usage", area: "answer", mark: "missing", says: "no token counts" };
    const profile = toProfile("http://x/v1", "m", { streamUsage: false, keyHeader: "api-key" }, [
      ok,
      odd,
    ]);
    assert.deepEqual(profile.notes, ["no token counts"]);
    assert.deepEqual(parseProfile(JSON.stringify(profile)), profile);
  });

  it("refuses a profile that cannot work", () => {
    const good = { version: 1, baseUrl: "http://x/v1", model: "m" };
    const cases: [unknown, RegExp][] = [
      ["", /is not a profile/],
      [{ ...good, version: 2 }, /"version": 1/],
      [{ ...good, baseUrl: "file:///etc/passwd" }, /"baseUrl"/],
      [{ ...good, model: "" }, /"model"/],
      [{ ...good, compat: { systemRole: "root" } }, /invalid "systemRole": "root"/],
      [{ ...good, compat: { keyHeader: "a\nb" } }, /keyHeader/],
      [{ ...good, compat: { toString: true } }, /unknown setting "toString"/],
      [{ ...good, compat: ["noTemperature"] }, /"compat" that is not an object/],
      [{ ...good, compat: null }, /"compat" that is not an object/],
    ];
    for (const [value, said] of cases)
      assert.throws(() => parseProfile(JSON.stringify(value)), said);
  });

  it("reads a profile with a byte order mark, which some editors write", () => {
    assert.equal(
      parseProfile('\uFEFF{"version":1,"baseUrl":"http://x/v1","model":"m"}').model,
      "m",
    );
  });

  it("escapes names so that none looks like a command or moves the cursor", () => {
    const profile = toProfile("http://x/v1", "m'; rm -rf ~ \u001b[2J", {}, []);
    const text = reportText(
      {
        version: 1,
        baseUrl: "http://x/v1",
        model: profile.model,
        verdict: judge([], {}),
        findings: [],
        profile,
        requests: 1,
        ms: 5,
      },
      style,
    );
    assert.ok(!text.includes("\u001b"), text);
    assert.ok(text.includes(`--model 'm'\\''; rm -rf ~ ␛[2J' "<task>"`), text);
  });
});

describe("the raw body of an answer", () => {
  const chunk = (delta: object, finish: string | null = null): string =>
    JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] });

  it("is recognised as empty, HTML, JSON, JSON lines, text or events", () => {
    const formats = [
      "",
      "<html>",
      '{"a":1}',
      '{"a":1}\n{"a":2}',
      "sorry",
      ": ping\n\ndata: {}\n\n",
    ];
    assert.deepEqual(
      formats.map((body) => readWire(body).format),
      ["empty", "html", "json", "json lines", "text", "events"],
    );
  });

  it("shows spaces, line ends, comments and the end marker", () => {
    const { space, lineEnds, comments, done, broken } = readWire(
      "data:{}\r\n\r\n: ping\n\ndata: {}\r\rdata: [DONE] \n\ndata: {oops\n\n",
    );
    assert.deepEqual(
      { space, lineEnds, comments, done, broken },
      { space: "sometimes", lineEnds: ["CRLF", "LF", "CR"], comments: 1, done: true, broken: 1 },
    );
  });

  it("shows a finish reason on every chunk, and events without blank lines", () => {
    const body = `data: ${chunk({ content: "a" }, "stop")}\ndata: ${chunk({ content: "b" }, "stop")}\ndata: [DONE]\n`;
    const { finishOnEvery, finishReasons, text, done } = readWire(body);
    assert.deepEqual(
      { finishOnEvery, finishReasons, text, done },
      { finishOnEvery: true, finishReasons: ["stop"], text: "ab", done: true },
    );
  });

  it("shows where token usage is reported and which field holds the reasoning", () => {
    const usage = { prompt_tokens: 1 };
    const of = (...values: object[]): string =>
      readWire(values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join("")).usage;
    const choices = [{ delta: { reasoning: "hm" } }];
    assert.equal(of({ choices }), "nowhere");
    assert.equal(of({ choices, usage: null }, { choices: [], usage }), "own chunk");
    assert.equal(of({ choices }, { choices, usage }), "last chunk");
    assert.equal(of({ choices, usage }, { choices, usage }), "every chunk");
    assert.equal(of({ choices: [{ delta: {}, usage }] }), "choice");
    assert.equal(of({ choices, x_groq: { usage } }), "x_groq");
    assert.deepEqual(readWire(`data: ${JSON.stringify({ choices })}\n\n`).reasoning, ["reasoning"]);
  });

  it("gives findings only where it deviates", () => {
    const usual = reply({}, `data: ${chunk({ content: "a" })}\n\ndata: [DONE]\n\n`);
    assert.deepEqual(
      streamingFindings(usual).map(({ id, mark }) => `${id} ${mark}`),
      ["stream ok"],
    );
    assert.deepEqual(
      streamingFindings(reply({}, '{"choices":[]}')).map(({ mark }) => mark),
      ["differs"],
    );
  });

  it("counts as one burst only after a wait, and only with several pieces", () => {
    assert.equal(isBurst([900, 901], 30), true);
    assert.equal(isBurst([900, 1500], 30), false);
    assert.equal(isBurst([20, 21], 30), false);
    assert.equal(isBurst([900], 2), false);
    assert.equal(isBurst([], 0), false);
  });
});

describe("tool calls", () => {
  const names = ["weather", "now"];
  const entry = (fields: object, name?: string, args?: unknown): Record<string, unknown> => ({
    ...fields,
    function: {
      ...(name !== undefined && { name }),
      ...(args !== undefined && { arguments: args }),
    },
  });

  it("are described by the shape of their fragments", () => {
    const usual = [
      entry({ index: 0, id: "a" }, "weather", ""),
      entry({ index: 0 }, undefined, '{"a"'),
      entry({ index: 0 }, undefined, ":1}"),
    ];
    assert.deepEqual(readCallTraits(usual, 1, names), {
      index: "ok",
      ids: "ok",
      name: "once",
      form: "text",
      pieces: 2,
    });
    const bare = [entry({}, "weather", { a: 1 }), entry({}, "now", {})];
    assert.deepEqual(readCallTraits(bare, 2, names), {
      index: "missing",
      ids: "missing",
      name: "once",
      form: "object",
      pieces: 1,
    });
    const shared = [
      entry({ index: 0, id: "a" }, "weather", "{}"),
      entry({ index: 0, id: "a" }, "now", "{}"),
    ];
    assert.deepEqual(readCallTraits(shared, 2, names), {
      index: "repeated",
      ids: "shared",
      name: "once",
      form: "text",
      pieces: 1,
    });
    const noisy = [
      entry({ index: 1, id: "a" }, "weather", "{"),
      entry({ index: 1, id: "b" }, "weather", "}"),
    ];
    assert.deepEqual(readCallTraits(noisy, 1, names), {
      index: "not from 0",
      ids: "changing",
      name: "repeated",
      form: "text",
      pieces: 2,
    });
    const split = [entry({ index: "0", id: "a" }, "wea"), entry({ index: "0" }, "ther", "{}")];
    assert.deepEqual(readCallTraits(split, 1, names), {
      index: "text",
      ids: "ok",
      name: "in pieces",
      form: "text",
      pieces: 1,
    });
  });

  it("are found in text by their usual notations, and not in prose about a tool", () => {
    const inText = (text: string): boolean => isCallInText({ text, calls: [] }, names);
    for (const text of [
      '<tool_call>{"name":"weather","arguments":{}}</tool_call>',
      '[TOOL_CALLS][{"name":"weather","arguments":{"city":"Oslo"}}]',
      "<function=weather>{}</function>",
      '```json\n{"name": "weather", "parameters": {"city": "Oslo"}}\n```',
      'weather(city="Oslo")',
      '[weather(city="Oslo")]',
    ])
      assert.ok(inText(text), text);
    for (const text of [
      "",
      "I would use the weather tool.",
      'Send {"name":"x","arguments":{}} to it.',
      "The weather (in Oslo) is fine.",
    ])
      assert.ok(!inText(text), text);
  });

  it("are reported as refused, missing, broken or not seen", () => {
    const call = (fields: object): AssistantMessage["content"] => [
      { type: "toolCall", id: "1", name: "weather", arguments: { city: "Oslo" }, ...fields },
    ];
    assert.equal(
      firstCallFinding(reply(failure("invalid_request", "no tools")), "m").blocks,
      "tools",
    );
    assert.equal(firstCallFinding(reply({ content: call({}) }), "m").mark, "ok");
    assert.equal(
      firstCallFinding(reply({ content: call({ argumentsError: "cut" }) }), "m").mark,
      "differs",
    );
    assert.equal(firstCallFinding(reply({}), "m").mark, "not seen");
    assert.equal(severalFinding(reply({ content: [...call({}), ...call({})] })).mark, "ok");
    assert.equal(severalFinding(reply({ content: call({}) })).mark, "not seen");
    assert.equal(
      severalFinding(reply({ content: call({ argumentsError: "two values" }) })).mark,
      "failed",
    );
  });
});

describe("refusals", () => {
  it("try first to relax what the message names", () => {
    assert.deepEqual(relaxations("extra field stream_options")[0], { streamUsage: false });
    assert.deepEqual(relaxations("role 'system' is not allowed")[0], { systemRole: "developer" });
    assert.equal(relaxations("Bad Request").length, 3);
  });

  it("are correct when they have the right status and wording", () => {
    const error = failure("invalid_request", "no such model");
    assert.equal(refusal("x", reply(error, "{}", 404)).mark, "ok");
    assert.equal(refusal("x", reply(error, "", 404)).mark, "differs");
    assert.equal(refusal("x", reply(error, "{}", 200)).mark, "differs");
    assert.match(
      refusal("x", reply(failure("server_error", "oops"), "{}", 500)).means ?? "",
      /Bowline retries/,
    );
  });

  it("name the context size in many ways", () => {
    assert.equal(
      windowIn("maximum context length is 32768 tokens, however you requested 100000012 tokens"),
      32_768,
    );
    assert.equal(
      windowIn(
        "max_tokens is too large: 100000000. This model supports at most 16,384 completion tokens",
      ),
      16_384,
    );
    assert.equal(windowIn("HTTP 400: tokens must be sensible"), undefined);
    assert.equal(windowIn("port 11434 is closed"), undefined);
  });

  it("for length are distinguished from limits that were ignored", () => {
    const upTo = (last: number): string =>
      Array.from({ length: last }, (_, at) => at + 1).join(" ");
    const body = (text: string): string =>
      `data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}\n\n`;
    assert.equal(limitOf(reply({ stopReason: "length" })), "obeyed");
    assert.equal(limitOf(reply({}, body(upTo(100)))), "ignored");
    assert.equal(limitOf(reply({}, body(upTo(8)))), "unsaid");
    assert.equal(limitOf(reply({}, body("1 2 3 ... 100"))), "unknown");
    assert.equal(limitOf(reply({}, body("No."))), "unknown");
  });
});
