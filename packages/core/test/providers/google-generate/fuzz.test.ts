import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { isTerminal, reduceEvents } from "../../../src/llm/event.ts";
import { toolCallsOf, type AssistantMessage } from "../../../src/llm/message.ts";
import type { Model } from "../../../src/llm/model.ts";
import { googleGenerate } from "../../../src/providers/google-generate/index.ts";
import { call, calls, end, parts, piece, read, sse, text, type Json } from "./events.ts";
import { brokenRules } from "./rules.ts";
import { byteByByte, cut, decode, seededRandom } from "../decode.ts";
import { loadRecordings, missing } from "../../../../../test/support/recordings.ts";
import { asRead } from "../../support.ts";
import { cpuMs } from "../../../../../test/support/cpu-time.ts";
import { sweep } from "../../../../../test/support/sweep.ts";

describe("any stream of a generateContent server", () => {
  it(
    "that was recorded decodes the same at any cut, complete, with arguments that parse",
    { skip: missing ?? false },
    () => {
      const recordings = loadRecordings("google-generate");
      assert.ok(recordings.length >= 10);
      for (const { file, body } of recordings) {
        const { events, message } = decode(googleGenerate, [body]);
        const expected = JSON.stringify(events);
        for (let seed = 1; seed <= 64; seed++) {
          const random = seededRandom(seed);
          const offsets = Array.from({ length: seed }, () => Math.floor(random() * body.length));
          const chunks = cut(
            body,
            offsets.toSorted((a, b) => a - b),
          );
          assert.equal(
            JSON.stringify(decode(googleGenerate, chunks).events),
            expected,
            `${file}, seed ${seed}`,
          );
        }
        assert.equal(
          JSON.stringify(decode(googleGenerate, byteByByte(body)).events),
          expected,
          file,
        );
        assert.deepEqual(reduceEvents(events), message, file);
        assert.deepEqual([message.error, message.rawStopReason], [undefined, "STOP"], file);
        const found = toolCallsOf(message);
        assert.equal(message.stopReason, found.length > 0 ? "toolUse" : "stop", file);
        for (const { argumentsText, argumentsError, arguments: args } of found) {
          assert.equal(argumentsError, undefined, file);
          assert.deepEqual(JSON.parse(argumentsText || "{}"), args, file);
        }
      }
    },
  );

  it(
    "that was recorded is sent back with the same text, calls and signatures",
    { skip: missing ?? false },
    () => {
      for (const { file, body } of loadRecordings("google-generate")) {
        const { message } = decode(googleGenerate, [body]);
        const chunks = new TextDecoder().decode(body).match(/^data: .*$/gm) ?? [];
        const recorded = chunks.flatMap(
          (line) =>
            (JSON.parse(line.slice(6)) as { candidates: { content: { parts: Json[] } }[] })
              .candidates,
        );
        const was = recorded.flatMap(({ content }) => content.parts);
        const is = replayed(message);
        assert.deepEqual(signaturesOf(is), signaturesOf(was), file);
        for (const isThought of [true, false])
          assert.equal(wordsOf(is, isThought), wordsOf(was, isThought), file);
        assert.deepEqual(namesOf(is), namesOf(was), file);
      }
    },
  );

  it("ends once, adds up and never throws, with parts of any order and shape", () => {
    const odd = fc.constantFrom<object[]>(
      {},
      [],
      { candidates: 7 },
      { candidates: [[]] },
      { candidates: [{ content: { parts: [[], 7, { functionCall: 7 }, { functionCall: [] }] } }] },
      { candidates: [{ content: "x", finishReason: 7 }] },
      { usageMetadata: [], responseId: 7, response: null, promptFeedback: "x" },
    );
    const known = fc.constantFrom<object[]>(
      text("t")[0]!,
      text("h \ud83d")[0]!,
      text("\ude00 i")[0]!,
      parts({ text: "hm", thought: true }),
      parts({ text: "s", thoughtSignature: "S" }),
      parts({ text: "", thoughtSignature: "S" }),
      parts({ inlineData: { mimeType: "image/png", data: "aGk=" } }),
      call({ id: "a", name: "f", args: { x: 1 } }),
      call({ name: "f", willContinue: true }),
      call({ id: "a", name: "f", willContinue: true }, { thoughtSignature: "S" }),
      call({ partialArgs: [piece("$.x", "1", true)], willContinue: true }),
      call({ id: "a", partialArgs: [piece("$.y[0]", "2")], willContinue: true }),
      call({ partialArgs: [7, {}, piece("$.x", { numberValue: null })] }),
      call({}),
      end("STOP"),
      end(null),
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 6, arbitrary: known }, odd), { maxLength: 12 }),
        fc.constantFrom("STOP", "MAX_TOKENS", "SAFETY", undefined),
        (chunks, reason) => {
          const { message, events } = read(
            sse(...chunks, ...(reason === undefined ? [] : [end(reason)])),
            ["f"],
          );
          assert.equal(events.filter(isTerminal).length, 1);
          assert.ok(isTerminal(events.at(-1)!));
          assert.ok(message.content.every((part) => part !== undefined));
          const ids = calls(message).map((entry) => (entry as unknown[])[0]);
          assert.equal(new Set(ids).size, ids.length);
          replayed(message);
        },
      ),
      { numRuns: sweep({ long: 60, short: 15 }) },
    );
  });

  it("costs the same for each delta, regardless of earlier output", () => {
    // Work that grows with the text would take minutes; the limit only has to distinguish the two.
    const chunks = Array.from({ length: 20_000 }, (_, n) => [
      call({
        id: "f",
        partialArgs: [piece("$.text", "ab", true), ...(n % 2 ? [] : [piece("$.text", "", true)])],
        willContinue: true,
      }),
      ...text("ab"),
      call({ id: `id_${n}`, name: "g", willContinue: true }),
      call({ id: `id_${n}`, args: { n } }),
      parts({ text: "hm", thought: true }),
    ]);
    const items = Array.from({ length: 20_000 }, (_, n) =>
      call({ id: "list", partialArgs: [piece(`$.list[${n}].x`, "y")], willContinue: true }),
    );
    const all = [
      call({ id: "list", name: "h", willContinue: true }),
      ...items,
      call({ id: "f", name: "f", willContinue: true }),
    ];
    const body = new TextEncoder().encode(
      sse(...all, ...chunks.flat(), call({ id: "list" }), end()),
    );
    const offsets = Array.from(
      { length: Math.floor(body.length / 65_536) },
      (_, n) => (n + 1) * 65_536,
    );
    const from = cpuMs();
    const { message } = decode(googleGenerate, cut(body, offsets));
    assert.ok(cpuMs() - from < 10_000);
    assert.equal(toolCallsOf(message).length, 20_002);
    assert.equal((toolCallsOf(message)[0]!.arguments.list as unknown[]).length, 20_000);
  });
});

/** The model's own turn, as it is sent back in the next request. */
function replayed(message: AssistantMessage): Json[] {
  const target = {
    id: message.model,
    name: "",
    api: message.api,
    provider: message.provider,
    baseUrl: "http://h",
  };
  const model: Model = { ...target, reasoning: true, input: ["text", "image"] };
  const last = { role: "user" as const, content: "Go on.", timestamp: 0 };
  const messages = [{ ...last }, message, last];
  const body = asRead(googleGenerate.encode(model, { messages }, {}).body);
  assert.deepEqual(brokenRules(body, false), []);
  return (
    (body.contents as { role: string; parts: Json[] }[]).find(({ role }) => role === "model")
      ?.parts ?? []
  );
}

const signaturesOf = (list: readonly Json[]): unknown[] =>
  list.flatMap(({ thoughtSignature: signature }) => (signature === undefined ? [] : [signature]));
const wordsOf = (list: readonly Json[], isThought: boolean): string =>
  list
    .flatMap((part) =>
      (part.thought === true) === isThought ? [(part.text as string | undefined) ?? ""] : [],
    )
    .join("");
const namesOf = (list: readonly Json[]): unknown[] =>
  list.flatMap(
    (part) => ((part.functionCall as Json | undefined)?.name as string | undefined) ?? [],
  );
