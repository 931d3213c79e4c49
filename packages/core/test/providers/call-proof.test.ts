/** Only those calls of an answer run that the whole stream proves to be complete. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isBowlineError } from "../../src/errors.ts";
import {
  toolCallsOf,
  type AssistantContent,
  type AssistantMessage,
} from "../../src/llm/message.ts";
import { anthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { CallProof, type SeenCall } from "../../src/providers/call-proof.ts";
import { AnswerEnd } from "../../src/providers/end-answer.ts";
import { googleGenerate } from "../../src/providers/google-generate/index.ts";
import { openaiChat, openaiCompatible } from "../../src/providers/openai-chat/index.ts";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import type { Protocol } from "../../src/providers/protocol.ts";
import { cpuMs } from "../../../../test/support/cpu-time.ts";
import { decode } from "./decode.ts";

type Json = Record<string, unknown>;

const sound: SeenCall = {
  wireId: "",
  place: undefined,
  contentIndex: 0,
  hasArguments: true,
  isClosed: true,
};

/** The doubt about calls with these facts, each with a content part. */
function doubt(
  ...calls: readonly (Partial<SeenCall> & { readonly name?: string; readonly text?: string })[]
): string | undefined {
  const proof = new CallProof();
  const content = calls.map(({ name = "f", text = '{"x":1}', ...facts }, contentIndex) => {
    proof.add({ ...sound, place: contentIndex, ...facts, contentIndex });
    return {
      type: "toolCall",
      id: String(contentIndex),
      name,
      arguments: text === "" ? {} : (JSON.parse(text) as Json),
      argumentsText: text,
    } satisfies AssistantContent;
  });
  return proof.doubt(content);
}

describe("CallProof", () => {
  it("accepts calls that were closed, got arguments and are distinguishable", () => {
    assert.equal(doubt(), undefined);
    assert.equal(doubt({}), undefined);
    assert.equal(doubt({}, {}), undefined);
    assert.equal(doubt({ wireId: "a" }, { wireId: "b" }), undefined);
    assert.equal(doubt({ wireId: "a" }, { wireId: "a", text: '{"x":2}' }), undefined);
    assert.equal(doubt({ wireId: "a" }, { wireId: "a", name: "g" }), undefined);
    assert.equal(
      doubt({ place: 0, wireId: "a" }, { place: 0, wireId: "b", text: "{}" }),
      undefined,
    );
  });

  it("doubts a call that stayed open or got no arguments", () => {
    assert.match(doubt({}, { isClosed: false }) ?? "", /did not close one of them/);
    assert.match(doubt({}, { hasArguments: false }) ?? "", /no arguments/);
  });

  it("doubts equal calls that share an id or a place, or have neither", () => {
    const twice = /one of them twice/;
    assert.match(doubt({ wireId: "a" }, { wireId: "a", text: '{ "x": 1 }' }) ?? "", twice);
    assert.match(doubt({ place: 0, wireId: "a" }, { place: 0, wireId: "b" }) ?? "", twice);
    assert.match(doubt({ place: undefined }, { place: undefined }) ?? "", twice);
  });

  it("doubts a call that shares its id or place with an empty one", () => {
    const twice = /one of them twice/;
    assert.match(doubt({ wireId: "a", text: "" }, { wireId: "a" }) ?? "", twice);
    assert.match(doubt({ wireId: "a" }, { wireId: "a", text: "{}" }) ?? "", twice);
    assert.match(
      doubt({ place: 0, wireId: "a", text: "" }, { place: 0, wireId: "b" }) ?? "",
      twice,
    );
    assert.match(
      doubt({ place: 0, wireId: "a" }, { place: 0, wireId: "a", text: '{"x":2}' }) ?? "",
      twice,
    );
  });

  it("doubts every call after a suspicious event, which it quotes in short", () => {
    const proof = new CallProof();
    proof.add(sound);
    proof.suspect("the stream contained text that is not an event", "x".repeat(1000));
    proof.suspect("second");
    assert.match(
      proof.doubt([]) ?? "",
      /^the stream contained text that is not an event: x{200}…$/,
    );
    assert.equal(proof.contradiction, undefined);
  });

  it("keeps the first contradiction, which it quotes in short", () => {
    const proof = new CallProof();
    proof.contradict("the stream changed the name of a call", "x".repeat(1000));
    proof.contradict("second");
    assert.match(proof.contradiction ?? "", /^the stream changed the name of a call: x{200}…$/);
  });

  it("limits the number of calls", () => {
    const proof = new CallProof();
    for (let count = 0; count < 32_768; count++) proof.add(sound);
    assert.throws(
      () => proof.add(sound),
      (error) => isBowlineError(error) && error.code === "stream_corrupt",
    );
  });
});

describe("the end of an answer", () => {
  const end = (...words: string[]): AnswerEnd => {
    const made = new AnswerEnd(/^stop$/i);
    for (const word of words) made.add(word);
    return made;
  };

  it("is decided by the worst end word, and by the first of equal ones", () => {
    assert.deepEqual([end("Stop").word, end("STOP").isComplete], ["Stop", true]);
    for (const [words, counts] of [
      [["stop", "weird"], "weird"],
      [["weird", "stop"], "weird"],
      [["weird", "other"], "weird"],
      [["length", "stop"], "length"],
      [["stop", "weird", "length", "content_filter", "refusal", "error"], "error"],
      [["error", "content_filter"], "error"],
    ] as const)
      assert.equal(end(...words).word, counts);
  });

  it("is not decided by a word that means the answer continues", () => {
    for (const word of ["", "null", "NULL", "not_finished", "FINISH_REASON_UNSPECIFIED"])
      assert.equal(end(word).word, "");
    assert.equal(end("null", "stop").word, "stop");
  });

  it("is a cut for a limit, and an error for a filter, a refusal or a failure", () => {
    for (const word of [
      "length",
      "max_tokens",
      "MAX_TOKENS",
      "token_limit",
      "time_limit",
      "model_length",
    ])
      assert.deepEqual([end(word).isCut, end(word).check()], [true, undefined]);
    for (const [word, code] of [
      ["content_filter", "content_filtered"],
      ["guardrail_intervened", "content_filtered"],
      ["refusal", "refusal"],
      ["cancelled", "server_error"],
      ["network_error", "server_error"],
      ["insufficient_system_resource", "server_error"],
    ] as const)
      assert.throws(
        () => end(word).check(),
        (error) => isBowlineError(error) && error.code === code,
        word,
      );
  });
});

interface LegalCall {
  readonly name: string;
  readonly args: Json;
  /** The offsets at which its JSON is split. */
  readonly cuts: readonly number[];
}
/** Parts of an answer: a text, or a call. */
type Part = string | LegalCall;

const names = ["get_time", "get_weather", "get"];
const argsOf = fc.dictionary(
  fc.string(),
  fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.string())),
  { maxKeys: 3, noNullPrototype: true },
);
const callOf = fc.record({
  name: fc.constantFrom(...names),
  args: argsOf,
  cuts: fc.array(fc.nat(40), { maxLength: 4 }),
});
const answerOf = fc.array(fc.oneof(fc.string({ minLength: 1 }), callOf), {
  minLength: 1,
  maxLength: 6,
});

const events = (...list: readonly unknown[]): string =>
  list
    .map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
    .join("");

function pieces({ args, cuts }: LegalCall): string[] {
  const json = JSON.stringify(args);
  const places = [...new Set(cuts.filter((at) => at < json.length))].toSorted((a, b) => a - b);
  return [0, ...places].map((from, index) => json.slice(from, places[index]));
}

const isCall = (part: Part): part is LegalCall => typeof part === "object";

function chat(parts: readonly Part[]): string {
  const chunk = (delta: Json, finish_reason: string | null = null): Json => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  const calls = parts.filter(isCall);
  return events(
    ...parts.filter((part) => !isCall(part)).map((content) => chunk({ content })),
    ...calls.flatMap((call, index) => [
      chunk({
        tool_calls: [{ index, id: `c${index}`, function: { name: call.name, arguments: "" } }],
      }),
      ...pieces(call).map((text) =>
        chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
      ),
    ]),
    chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
    "[DONE]",
  );
}

function messages(parts: readonly Part[]): string {
  const blocks = parts.flatMap((part, index) => {
    const start = (content_block: Json): Json => ({
      type: "content_block_start",
      index,
      content_block,
    });
    const delta = (fields: Json): Json => ({ type: "content_block_delta", index, delta: fields });
    const stop = { type: "content_block_stop", index };
    if (!isCall(part))
      return [start({ type: "text", text: "" }), delta({ type: "text_delta", text: part }), stop];
    return [
      start({ type: "tool_use", id: `t${index}`, name: part.name, input: {} }),
      ...pieces(part).map((text) => delta({ type: "input_json_delta", partial_json: text })),
      stop,
    ];
  });
  const stop_reason = parts.some(isCall) ? "tool_use" : "end_turn";
  return events(
    { type: "message_start", message: { id: "m" } },
    ...blocks,
    { type: "message_delta", delta: { stop_reason } },
    { type: "message_stop" },
  );
}

function responses(parts: readonly Part[]): string {
  const item = (part: Part, index: number): Json =>
    isCall(part)
      ? {
          type: "function_call",
          id: `fc_${index}`,
          call_id: `c${index}`,
          name: part.name,
          arguments: JSON.stringify(part.args),
        }
      : { type: "message", id: `msg_${index}`, content: [{ type: "output_text", text: part }] };
  const output = parts.map(item);
  return events(
    ...parts.flatMap((part, output_index) => {
      const whole = output[output_index] as Json;
      const of = { output_index, item_id: whole.id };
      const done = { type: "response.output_item.done", output_index, item: whole };
      if (!isCall(part)) return [{ type: "response.output_text.delta", ...of, delta: part }, done];
      const added = { ...whole, arguments: "" };
      return [
        { type: "response.output_item.added", output_index, item: added },
        ...pieces(part).map((delta) => ({
          type: "response.function_call_arguments.delta",
          ...of,
          delta,
        })),
        { type: "response.function_call_arguments.done", ...of, arguments: whole.arguments },
        done,
      ];
    }),
    { type: "response.completed", response: { status: "completed", output } },
  );
}

function google(parts: readonly Part[]): string {
  return events(
    ...parts.map((part) => ({
      candidates: [
        {
          content: {
            parts: [
              isCall(part)
                ? { functionCall: { name: part.name, args: part.args } }
                : { text: part },
            ],
          },
        },
      ],
    })),
    { candidates: [{ finishReason: "STOP" }] },
  );
}

const wires: readonly [wire: Protocol, body: (parts: readonly Part[]) => string][] = [
  [openaiChat, chat],
  [openaiCompatible, chat],
  [anthropicMessages, messages],
  [openaiResponses, responses],
  [googleGenerate, google],
];

function read(wire: Protocol, body: string): AssistantMessage {
  return decode(wire, [new TextEncoder().encode(body)], names).message;
}

describe("a well-formed answer", () => {
  for (const [index, [wire, body]] of wires.entries())
    it(`runs all of its calls on ${wire.api} (${index})`, () => {
      fc.assert(
        fc.property(answerOf, (parts: readonly Part[]) => {
          const message = read(wire, body(parts));
          const calls = parts.filter(isCall);
          assert.equal(
            message.stopReason,
            calls.length > 0 ? "toolUse" : "stop",
            message.errorMessage,
          );
          assert.deepEqual(
            toolCallsOf(message).map(({ name, arguments: args, argumentsError }) => [
              name,
              args,
              argumentsError,
            ]),
            calls.map(({ name, args }) => [name, args, undefined]),
          );
        }),
      );
    });

  it("of 8,000 calls is read in linear time on each wire", () => {
    const parts: LegalCall[] = Array.from({ length: 8000 }, (_, n) => ({
      name: "get",
      args: { n },
      cuts: [3],
    }));
    for (const [wire, body] of wires) {
      const bytes = body(parts);
      // Quadratic work took four seconds; the limit only has to distinguish the two.
      const from = cpuMs();
      const message = read(wire, bytes);
      assert.ok(cpuMs() - from < 2500, `${wire.api}: ${cpuMs() - from} ms`);
      assert.equal(toolCallsOf(message).length, 8000);
      assert.equal(message.stopReason, "toolUse");
    }
  });
});
