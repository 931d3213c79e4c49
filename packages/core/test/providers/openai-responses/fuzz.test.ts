import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { isTerminal, reduceEvents } from "../../../src/llm/event.ts";
import { toolCallsOf, type AssistantMessage, type Message } from "../../../src/llm/message.ts";
import { openaiResponses } from "../../../src/providers/openai-responses/index.ts";
import {
  added,
  at,
  calls,
  completed,
  created,
  done,
  functionCall,
  incomplete,
  json,
  jsonDone,
  message,
  piece,
  reasoning,
  sse,
  summary,
} from "./events.ts";
import { brokenRules } from "./rules.ts";
import { ownModel } from "./transcripts.ts";
import { byteByByte, cut, decode, seededRandom, type Decoded } from "../decode.ts";
import { loadRecordings, missing } from "../../../../../test/support/recordings.ts";
import { cpuMs } from "../../../../../test/support/cpu-time.ts";
import { sweep } from "../../../../../test/support/sweep.ts";

type Json = Record<string, unknown>;

interface Recorded extends Decoded {
  readonly file: string;
  readonly body: Uint8Array;
  /** The output that the server repeats at the end. */
  readonly output: readonly Json[];
}

/** Every recorded answer; a file may contain several. */
function recordedAnswers(): Recorded[] {
  return loadRecordings("openai-responses").flatMap(({ file, body: all }) =>
    new TextDecoder()
      .decode(all)
      .split(/(?=^event: response\.created$)/m)
      .filter((part) => part.includes("response.completed"))
      .map((part) => {
        const body = new TextEncoder().encode(part);
        const last =
          part.split("\n").find((line) => /^data:.*"type": ?"response\.completed"/.test(line)) ??
          "";
        const { response } = JSON.parse(last.slice(5)) as { response: { output: Json[] } };
        return { file, body, output: response.output, ...decode(openaiResponses, [body]) };
      }),
  );
}

describe("the recorded answers of Responses servers", () => {
  const recorded = { skip: missing ?? false };
  const answers = recordedAnswers();

  it("are complete, with the texts and calls that the server repeats at the end", recorded, () => {
    assert.ok(answers.length > 40);
    for (const { file, output, message: answered } of answers) {
      assert.deepEqual([answered.error, answered.rawStopReason], [undefined, "completed"], file);
      const words = output.flatMap(({ type, content }) =>
        type === "message" ? (content as Json[]).map((part) => part.text) : [],
      );
      const texts = answered.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
      assert.deepEqual(texts, words, file);
      const given = output.filter(({ type }) => type === "function_call");
      assert.deepEqual(
        calls(answered),
        given.map(({ call_id, name, arguments: args }) => [
          call_id,
          name,
          JSON.parse(args as string),
        ]),
        file,
      );
      assert.equal(answered.stopReason, given.length > 0 ? "toolUse" : "stop", file);
    }
  });

  it("give the same events at any cut, and add up to their message", recorded, () => {
    for (const [seed, { file, body, events, message: answered }] of answers.entries()) {
      const random = seededRandom(seed);
      const expected = JSON.stringify(events);
      for (let n = 1; n <= 8; n++) {
        const offsets = Array.from({ length: n * n }, () => Math.floor(random() * body.length));
        const chunks = cut(
          body,
          offsets.toSorted((a, b) => a - b),
        );
        assert.equal(JSON.stringify(decode(openaiResponses, chunks).events), expected, file);
      }
      assert.deepEqual(reduceEvents(events), answered, file);
    }
  });

  it("are complete only at their end", recorded, () => {
    for (const { file, body } of answers) {
      for (const share of [0.1, 0.3, 0.5]) {
        const { error } = decode(openaiResponses, [
          body.subarray(0, Math.floor(share * body.length)),
        ]).message;
        // A line that was cut is not JSON.
        assert.match(error?.code ?? "", /^stream_(?:truncated|corrupt)$/, `${file} ${share}`);
        assert.equal(error?.retryable, true, file);
      }
    }
  });

  it(
    "can be sent back in order, without items that the server does not store or would wait for",
    recorded,
    () => {
      for (const { file, message: answered } of answers) {
        const own: AssistantMessage = {
          ...answered,
          api: ownModel.api,
          provider: ownModel.provider,
          model: ownModel.id,
        };
        const { body } = openaiResponses.encode(ownModel, { messages: [asked, own] }, {});
        assert.deepEqual(brokenRules(body), [], file);
        const raws = own.content.flatMap((part) =>
          part.type === "opaque" ? [part.raw as Json] : [],
        );
        const answeredIds = raws.flatMap(({ type, call_id }) =>
          String(type).endsWith("_output") ? [call_id] : [],
        );
        const expected = own.content.flatMap((part): unknown[] => {
          if (part.type === "text") return ["message"];
          if (part.type === "toolCall") return ["function_call"];
          if (part.type === "thinking")
            return part.thinkingSignature?.includes("encrypted") === true ? ["reasoning"] : [];
          if (part.type !== "opaque") return []; // a source, or the image of the item before it
          const { type, call_id: id } = part.raw as Json;
          return typeof id === "string" && !answeredIds.includes(id) ? [] : [type];
        });
        const sent = (body.input as Json[]).slice(1).map(({ type }) => type);
        assert.deepEqual(
          sent.filter((type) => type !== "function_call_output"),
          expected,
          file,
        );
      }
    },
  );
});

const asked: Message = { role: "user", content: "Hi", timestamp: 0 };

describe("any stream of a Responses server", () => {
  it("ends once, adds up and never throws, with events of any order and shape", () => {
    const index = fc.constantFrom<number | undefined>(0, 1, 2, undefined);
    const item = fc.constantFrom<object>(
      message(""),
      message("Hello", { id: "msg_1" }),
      { type: "message", content: [{ type: "refusal", refusal: "no" }, null, 7] },
      { type: "message", content: "text" },
      reasoning(),
      reasoning(["hm"], { id: "rs_1", encrypted_content: "E" }),
      { type: "reasoning", summary: null, content: [null] },
      functionCall("a"),
      functionCall("a", '{"x":1}', { id: "fc_1" }),
      functionCall(null, { x: 1 }, { status: "incomplete" }),
      functionCall("p", '{"tool_uses":[{"recipient_name":"f"},{"recipient_name":"f"}]}', {
        name: "parallel",
      }),
      { type: "web_search_call", id: "ws_1" },
      { type: "hologram" },
      {},
      { type: 7 },
    );
    const where = index.chain((n) =>
      fc.oneof(
        item.map((raw) => added(n, raw)),
        item.map((raw) => done(n, raw)),
        fc.constantFrom<object>(
          piece(n, "t"),
          piece(n, "\ud83d", 1),
          at(n, "output_text.done", { text: "tt" }),
          at(n, "content_part.done", { part: null }),
          at(n, "output_text.annotation.added", { annotation: { url: "u" } }),
          at(n, "refusal.delta", { delta: "r" }),
          summary(n, 0, "s"),
          summary(n, 1, "s"),
          at(n, "reasoning_text.delta", { delta: "h" }),
          json(n, '{"x":'),
          json(n, "1}"),
          jsonDone(n, "{}"),
          jsonDone(n, null, { name: "g" }),
          at(n, "web_search_call.completed"),
          at(n, "output_text.delta", { delta: { odd: 1 }, content_index: {} }),
        ),
      ),
    );
    const whole = fc.array(item, { maxLength: 3 }).map((output) => completed({ output }));
    const event = fc.oneof(
      { weight: 8, arbitrary: where },
      {
        weight: 1,
        arbitrary: fc.constantFrom<object>(
          created(),
          { type: "response.completed.odd" },
          { type: "ping" },
        ),
      },
    );
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 20 }),
        fc.oneof(whole, fc.constantFrom<object>(incomplete("max_output_tokens"), { type: "ping" })),
        (events, last) => {
          const body = new TextEncoder().encode(sse(created(), ...events, last));
          const { message: answered, events: written } = decode(openaiResponses, [body], ["f"]);
          assert.equal(
            JSON.stringify(decode(openaiResponses, byteByByte(body), ["f"]).events),
            JSON.stringify(written),
          );
          assert.deepEqual(reduceEvents(written), answered);
          assert.equal(written.filter(isTerminal).length, 1);
          assert.ok(isTerminal(written.at(-1)!));
          assert.ok(answered.content.every((part) => part !== undefined));
          const ids = toolCallsOf(answered).map(({ id }) => id);
          assert.equal(new Set(ids).size, ids.length);
          assert.ok(ids.every((id) => id !== ""));
        },
      ),
      { numRuns: sweep({ long: 500, short: 150 }) },
    );
  });

  it("costs the same for each delta, regardless of earlier output", () => {
    // Work that grows with the text would take minutes; the limit only has to distinguish the two.
    const deltas = Array.from({ length: 20_000 }, () => [
      summary(0, 0, "ab"),
      piece(1, "ab"),
      json(2, " "),
      piece(4, "ab"), // after a pending item
      piece(undefined, "ab"),
    ]);
    const items = [
      reasoning(),
      message(""),
      functionCall("a"),
      { type: "web_search_call" },
      message(""),
    ];
    const body = sse(
      created(),
      ...items.map((raw, n) => added(n, raw)),
      ...deltas.flat(),
      completed(),
    );
    const from = cpuMs();
    const { message: answered } = decode(openaiResponses, [new TextEncoder().encode(body)]);
    assert.ok(cpuMs() - from < 5000);
    const lengths = answered.content.map((part) =>
      part.type === "text" ? part.text.length : part.type,
    );
    assert.deepEqual(lengths, ["thinking", "toolCall", "opaque", 40_000, 80_000]);
  });
});
