import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { AssistantMessage } from "../../../src/llm/message.ts";
import type { Compat } from "../../../src/llm/model.ts";
import { openaiChat, streamOpenaiCompatible } from "../../../src/providers/openai-chat/index.ts";
import { createThinkSplitter } from "../../../src/providers/openai-chat/think-tags.ts";
import { getModel } from "../../../src/providers/vendors.ts";
import {
  createTaggedReader,
  type TextDialect,
} from "../../../src/providers/openai-chat/tagged-reader.ts";
import type { Protocol } from "../../../src/providers/protocol.ts";
import { decode, decodeEveryWay } from "../decode.ts";

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

const wire = (dialect: TextDialect): Protocol => ({
  ...openaiChat,
  createReader: (writer, facts) => createTaggedReader(dialect, writer, facts),
});
const bodyOf = (pieces: readonly string[], end: string): string =>
  pieces.map((content) => chunk({ content })).join("") + end;
const toolNames = ["get_weather", "f"];

/** The answer to these pieces of text, decoded in every way that must agree. */
const read = (
  dialect: TextDialect,
  pieces: readonly string[],
  end = chunk({}, "stop"),
): AssistantMessage => decodeEveryWay(wire(dialect), bodyOf(pieces, end), toolNames).message;

/** The same answer, decoded once. */
const readOnce = (dialect: TextDialect, pieces: readonly string[]): AssistantMessage =>
  decode(wire(dialect), [new TextEncoder().encode(bodyOf(pieces, chunk({}, "stop")))], toolNames)
    .message;

const inLetters = (text: string): string[] => text.split("");
/** Parts in short form: `thinking: …`, `text: …`, `name {…}`. */
const parts = ({ content }: AssistantMessage): string[] =>
  content.map((part) => {
    if (part.type === "text") return `text: ${part.text}`;
    if (part.type === "thinking") return `thinking: ${part.thinking}`;
    return part.type === "toolCall" ? `${part.name} ${JSON.stringify(part.arguments)}` : part.type;
  });

// Q087, Q088
describe("thinking in tags", () => {
  const cases: Record<string, [TextDialect["thinkTags"], string, string[]]> = {
    "is split from a text that begins with it": [
      "split",
      "<think>hm</think>Hi",
      ["thinking: hm", "text: Hi"],
    ],
    "may have white space around its tags": [
      "split",
      "\n<think>\nhm\n</think>\n\nHi\n",
      ["thinking: hm\n", "text: Hi\n"],
    ],
    "is dropped when it is empty": ["split", "<think>\n\n</think>\n\nHi", ["text: Hi"]],
    "stays text later in the text": [
      "split",
      "Hi <think>hm</think>",
      ["text: Hi <think>hm</think>"],
    ],
    "stays text after its end": [
      "split",
      "<think>a</think>b<think>c</think>",
      ["thinking: a", "text: b<think>c</think>"],
    ],
    "may contain text that begins like its end tag": [
      "split",
      "<think>a</thin b</think>c",
      ["thinking: a</thin b", "text: c"],
    ],
    "does not begin with a similar tag": ["split", "<thinking> aloud", ["text: <thinking> aloud"]],
    "may be the whole text": ["split", "<think>hm", ["thinking: hm"]],
    "is not guessed from a closing tag": ["split", "hm</think>Hi", ["text: hm</think>Hi"]],
    "is open from the start if the template opened it": [
      "open",
      "hm</think>Hi",
      ["thinking: hm", "text: Hi"],
    ],
    "is open even if the model repeats the tag": [
      "open",
      "<think>hm</think>Hi",
      ["thinking: hm", "text: Hi"],
    ],
    "keeps text that was buffered at the end": ["split", "<think>hm</thi", ["thinking: hm</thi"]],
    "keeps half a tag as text": ["split", "<thi", ["text: <thi"]],
  };
  for (const [what, [thinkTags, text, expected]] of Object.entries(cases)) {
    it(what, () => {
      const dialect = thinkTags === undefined ? {} : { thinkTags };
      assert.deepEqual(parts(read(dialect, [text])), expected);
      assert.deepEqual(parts(readOnce(dialect, inLetters(text))), expected, "letter by letter");
    });
  }

  it("is not parsed by default", () => {
    assert.deepEqual(parts(read({}, ["<think>hm</think>Hi"])), ["text: <think>hm</think>Hi"]);
  });

  it("ends where a real call begins, and is kept when the answer fails", () => {
    const call = { tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{}" } }] };
    const message = read({ thinkTags: "split" }, ["<think>hm</thi"], chunk(call, "tool_calls"));
    assert.deepEqual(
      [message.stopReason, parts(message)],
      ["toolUse", ["thinking: hm</thi", "f {}"]],
    );
    const failed = read({ thinkTags: "split" }, ["<think>hm</thi"], "");
    assert.deepEqual(
      [failed.error?.code, parts(failed)],
      ["stream_truncated", ["thinking: hm</thi"]],
    );
  });

  it("that is empty, and without text, is an empty answer", () => {
    assert.equal(
      read({ thinkTags: "split" }, ["<think>\n</think>\n"]).error?.code,
      "empty_response",
    );
  });

  it("gives the same parts however the text is split, and loses no character", () => {
    const piece = fc.constantFrom(
      "<think>",
      "</think>",
      "<",
      "/",
      "think",
      ">",
      "a",
      "b c",
      "</thi",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 8 }),
        fc.constantFrom("split" as const, "open" as const),
        (pieces, thinkTags) => {
          const text = `${pieces.join("")}.`;
          const whole = parts(readOnce({ thinkTags }, [text]));
          assert.deepEqual(parts(readOnce({ thinkTags }, [...pieces, "."])), whole);
          const shown = whole.map((part) => part.replace(/^\w+: /, "")).join("");
          const tags = text.replace(/^<think>/, "").replace("</think>", "");
          assert.ok(
            [text, text.replace(/^<think>/, ""), tags].some(
              (kept) => kept.replace(/\s/g, "") === shown.replace(/\s/g, ""),
            ),
          );
        },
      ),
      { numRuns: 500 },
    );
  });
});

// Q069
describe("calls written as text", () => {
  const oslo = '{"name":"get_weather","arguments":{"city":"Oslo"}}';
  const called = 'get_weather {"city":"Oslo"}';
  const cases: Record<string, [NonNullable<TextDialect["textCalls"]>, string, string[]]> = {
    "in the tags of Hermes and Qwen": [
      "hermes",
      `I look.\n<tool_call>\n${oslo}\n</tool_call>`,
      ["text: I look.\n", called],
    ],
    "twice, the last one without its closing tag": [
      "hermes",
      `<tool_call>${oslo}</tool_call>\n<tool_call>{"name":"f","arguments":"{}"}`,
      [called, "f {}"],
    ],
    "after Mistral's marker": ["mistral", `[TOOL_CALLS][${oslo}]`, [called]],
    "as bare JSON, with parameters": [
      "json",
      ' {"name": "f", "parameters": {"a": [1]}}',
      ['f {"a":[1]}'],
    ],
    "of an undeclared tool are text": [
      "json",
      '{"name":"rm","arguments":{}}',
      ['text: {"name":"rm","arguments":{}}'],
    ],
    "that are cut are text": [
      "hermes",
      '<tool_call>{"name":"f","argum',
      ['text: <tool_call>{"name":"f","argum'],
    ],
    "followed by text are text": [
      "hermes",
      `<tool_call>${oslo}</tool_call> Done.`,
      [`text: <tool_call>${oslo}</tool_call> Done.`],
    ],
    "in another form than the one asked for are text": [
      "mistral",
      `<tool_call>${oslo}</tool_call>`,
      [`text: <tool_call>${oslo}</tool_call>`],
    ],
    "after text are text": ["json", `So: ${oslo}`, [`text: So: ${oslo}`]],
    "that are incomplete are text": ["mistral", "[TOOL_", ["text: [TOOL_"]],
  };
  for (const [what, [textCalls, text, expected]] of Object.entries(cases)) {
    it(what, () => {
      const stopReason = expected.some((part) => !part.startsWith("text")) ? "toolUse" : "stop";
      for (const message of [
        read({ textCalls }, [text]),
        readOnce({ textCalls }, inLetters(text)),
      ]) {
        assert.deepEqual([message.stopReason, parts(message)], [stopReason, expected]);
      }
    });
  }

  it("run under generated ids, after thinking, when both are enabled", () => {
    const message = read({ thinkTags: "split", textCalls: "hermes" }, [
      `<think>hm</think>\n<tool_call>${oslo}</tool_call>`,
    ]);
    assert.deepEqual([message.stopReason, parts(message)], ["toolUse", ["thinking: hm", called]]);
    assert.equal(message.content[1]?.type === "toolCall" && message.content[1].id, "call_1");
  });

  it("are text beside a real call, and in a cut answer", () => {
    const call = { tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{}" } }] };
    const text = `<tool_call>${oslo}</tool_call>`;
    const message = read({ textCalls: "hermes" }, [text], chunk(call, "tool_calls"));
    assert.deepEqual(parts(message), [`text: ${text}`, "f {}"]);
    const cut = read({ textCalls: "hermes" }, [text], chunk({}, "length"));
    assert.deepEqual([cut.stopReason, parts(cut)], ["length", [`text: ${text}`]]);
  });

  it("are not parsed when no tool was declared", () => {
    const { message } = decodeEveryWay(
      wire({ textCalls: "json" }),
      bodyOf([oslo], chunk({}, "stop")),
    );
    assert.deepEqual(parts(message), [`text: ${oslo}`]);
  });
});

it("the default stream function parses tags according to the model's compat switches", async () => {
  const words = '{"choices":[{"index":0,"delta":{"content":"<think>hm</think>Hi."}}]}';
  const bytes = `data: ${words}\n\ndata: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
  const fetch = async (): Promise<Response> =>
    new Response(bytes, { headers: { "content-type": "text/event-stream" } });
  const messages = [{ role: "user" as const, content: "Hi", timestamp: 1 }];
  const kinds = async (compat: Compat): Promise<string[]> => {
    const model = getModel("custom", "m", { baseUrl: "http://localhost/v1", compat });
    const { content } = await streamOpenaiCompatible(model, { messages }, { fetch }).result();
    return content.map(({ type }) => type);
  };
  assert.deepEqual(await kinds({ thinkTags: "split" }), ["thinking", "text"]);
  assert.deepEqual(await kinds({}), ["text"]);
});

it("a think splitter passes on no empty text at the end", () => {
  for (const [mode, pieces, expected] of [
    ["split", ["<think>a", "</think>\n"], ["think a"]],
    ["split", ["<think>", "a</think>b"], ["think a", "say b"]],
    ["split", ["<th"], ["say <th"]],
    ["split", [], []],
    ["open", ["a</th"], ["think a", "think </th"]],
    ["open", ["a</think>"], ["think a"]],
  ] as const) {
    const told: string[] = [];
    const splitter = createThinkSplitter(mode, {
      think: (text) => void told.push(`think ${text}`),
      say: (text) => void told.push(`say ${text}`),
    });
    for (const piece of pieces) splitter.add(piece);
    splitter.flush();
    splitter.flush();
    assert.deepEqual(told, expected, pieces.join());
  }
});
