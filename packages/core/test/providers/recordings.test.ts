/**
 * Invariants 7 and 8 on recordings of real servers: any chunks give the same events, and the events
 * give the message.
 */
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { errorCodes } from "../../src/errors.ts";
import { isTerminal, reduceEvents, type AssistantMessageEvent } from "../../src/llm/event.ts";
import { toolCallsOf } from "../../src/llm/message.ts";
import { anthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { googleGenerate } from "../../src/providers/google-generate/index.ts";
import { openaiChat } from "../../src/providers/openai-chat/index.ts";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import type { Protocol } from "../../src/providers/protocol.ts";
import { byteByByte, cut, decode, seededRandom, type Decoded } from "./decode.ts";
import { loadRecordings, missing, type Recording } from "../../../../test/support/recordings.ts";

const RANDOM_CUTTINGS = 64;
/** Files up to this size are cut at every single byte. */
const SMALL = 4096;

/** Recordings in which the server failed, and the expected error event. */
const reportedErrors: Readonly<
  Record<string, { readonly code: string; readonly status?: number }>
> = {
  "groq-tool-use-failed-error-streaming-0.sse": { code: "invalid_request", status: 400 },
  "openrouter-openrouter-stream-error-0.sse": { code: "invalid_request", status: 400 },
};

const protocols: readonly Protocol[] = [
  openaiChat,
  anthropicMessages,
  openaiResponses,
  googleGenerate,
];

for (const protocol of protocols) {
  describe(`the recordings of ${protocol.api}`, { skip: missing ?? false }, () => {
    const recordings = loadRecordings(protocol.api).map((recording) => ({
      recording,
      whole: decode(protocol, [recording.body]),
    }));
    eachRecording("give the same events in any chunking", (recording, { events }) => {
      const expected = JSON.stringify(events);
      const { body } = recording;
      const same = (chunks: Iterable<Uint8Array>, how: string): void => {
        assert.equal(
          JSON.stringify(decode(protocol, chunks).events),
          expected,
          `${recording.file} ${how}`,
        );
      };
      same(byteByByte(body), "one byte at a time");
      for (let seed = 1; seed <= RANDOM_CUTTINGS; seed++) {
        const random = seededRandom(seed);
        const offsets = Array.from({ length: seed }, () =>
          Math.floor(random() * body.length),
        ).toSorted((a, b) => a - b);
        same(cut(body, offsets), `with the cuts of seed ${seed}`);
      }
      if (body.length > SMALL) return;
      for (let at = 1; at < body.length; at++) same(cut(body, [at]), `cut at byte ${at}`);
    });

    eachRecording(
      "give the same events in any equivalent framing",
      ({ file, body }, { events }) => {
        const text = new TextDecoder().decode(body);
        const framings: Record<string, string> = {
          CRLF: text.replaceAll("\n", "\r\n"),
          "bare CR": text.replaceAll("\n", "\r"),
          "a byte order mark": `\ufeff${text}`,
          "no space after the colon": text.replaceAll(/^(data|event): /gm, "$1:"),
          "comments and unknown fields": text.replaceAll(
            /^data:/gm,
            ": keep-alive\nid: 7\nfoo: bar\ndata:",
          ),
          "no blank line at the end": text.trimEnd(),
        };
        for (const [name, framed] of Object.entries(framings)) {
          const decoded = decode(protocol, [new TextEncoder().encode(framed)]);
          assert.equal(
            JSON.stringify(decoded.events),
            JSON.stringify(events),
            `${file} with ${name}`,
          );
        }
      },
    );

    eachRecording("end with exactly one terminal event, the last", ({ file }, { events }) => {
      assert.deepEqual(
        events.flatMap((event, index) => (isTerminal(event) ? [index] : [])),
        [events.length - 1],
        file,
      );
    });

    eachRecording(
      "add up to the stream's final message, also after a trip through JSON",
      ({ file }, { events, message }) => {
        assert.deepEqual(reduceEvents(events), message, file);
        const recorded = JSON.parse(JSON.stringify(events)) as AssistantMessageEvent[];
        assert.deepEqual(reduceEvents(recorded), JSON.parse(JSON.stringify(message)), file);
        assert.ok(
          !JSON.stringify(events).includes('"partial":'),
          `${file}: the live message was serialised`,
        );
      },
    );

    eachRecording(
      "have tool calls whose arguments parse or carry an error",
      ({ file }, { events, message }) => {
        for (const call of toolCallsOf(message)) {
          assert.ok(call.id !== "" && call.name !== "", `${file}: a call without id or name`);
          if (call.argumentsError !== undefined) continue;
          const text = call.argumentsText ?? "";
          assert.deepEqual(
            text.trim() === "" ? {} : JSON.parse(text),
            call.arguments,
            `${file}: ${call.name}`,
          );
        }
        const ids = toolCallsOf(message).map((call) => call.id);
        assert.equal(new Set(ids).size, ids.length, `${file}: two calls share an id`);
        assert.equal(
          events.filter((event) => event.type === "toolcall_end").length,
          ids.length,
          file,
        );
      },
    );

    eachRecording(
      "have the same message whether the tools were declared or not",
      ({ file, body }, { message }) => {
        const names = toolCallsOf(message).map((call) => call.name);
        assert.deepEqual(decode(protocol, [body], names).message, message, file);
      },
    );

    eachRecording(
      "end in a typed error exactly where the server reported one",
      ({ file }, { events, message }) => {
        const last = events.at(-1);
        const expected = reportedErrors[file];
        assert.equal(
          last?.type,
          expected === undefined ? "done" : "error",
          `${file}: ${message.errorMessage ?? ""}`,
        );
        if (expected === undefined) return assert.equal(message.error, undefined, file);
        const { error } = message;
        assert.ok(error !== undefined && errorCodes.includes(error.code), file);
        assert.deepEqual(
          { code: error.code, ...(error.status !== undefined && { status: error.status }) },
          expected,
          file,
        );
        assert.equal(message.stopReason, "error", file);
        assert.equal(message.errorMessage, error.message, file);
      },
    );

    eachRecording("are never complete when they are cut", ({ file, body }, { events, message }) => {
      if (events.at(-1)?.type === "error") return;
      const random = seededRandom(1);
      for (let n = 0; n < RANDOM_CUTTINGS; n++) {
        // Not inside the first field's name, because a body without events may be an HTML page.
        const at = 8 + Math.floor(random() * (body.length - 8));
        const short = decode(protocol, [body.subarray(0, at)]);
        if (short.events.at(-1)?.type === "done") {
          assert.deepEqual(short.message.content, message.content, `${file} ends at byte ${at}`);
          assert.equal(short.message.stopReason, message.stopReason, `${file} ends at byte ${at}`);
        } else {
          const code = short.message.error?.code ?? "none";
          assert.ok(
            ["stream_truncated", "stream_corrupt", "empty_response"].includes(code),
            `${file} ends at byte ${at}: ${code}`,
          );
          assert.equal(short.message.error?.retryable, true, `${file} ends at byte ${at}`);
        }
      }
    });

    test("are counted in a table", (t) =>
      printCounts(
        t,
        protocol.api,
        recordings.map(({ whole }) => whole),
      ));

    function eachRecording(
      name: string,
      check: (recording: Recording, whole: Decoded) => void,
    ): void {
      test(name, () => {
        for (const { recording, whole } of recordings) check(recording, whole);
      });
    }
  });
}

if (missing !== undefined) {
  test("the recordings are present", (t) => {
    const skipped = protocols.length * 9;
    t.skip(`${skipped} tests of ${protocols.length} protocols skipped: ${missing}`);
  });
}

function printCounts(t: TestContext, api: string, decoded: readonly Decoded[]): void {
  const events = decoded.flatMap((one) => one.events);
  const count = (of: (event: AssistantMessageEvent) => boolean): number => events.filter(of).length;
  const reasons = new Map<string, number>();
  for (const { message } of decoded) {
    const reason = `${message.stopReason} (${message.error?.code ?? message.rawStopReason ?? "not said"})`;
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const rows: [string, number][] = [
    ["files", decoded.length],
    ["events", events.length],
    ["deltas", count((event) => event.type.endsWith("_delta"))],
    ["tool calls", count((event) => event.type === "toolcall_end")],
    [
      "arguments refused",
      count(
        (event) => event.type === "toolcall_end" && event.toolCall.argumentsError !== undefined,
      ),
    ],
    ["provider's own blocks", count((event) => event.type === "opaque_end")],
    ["ended done", count((event) => event.type === "done")],
    ["ended error", count((event) => event.type === "error")],
    ...[...reasons]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([reason, n]): [string, number] => [`  ${reason}`, n]),
  ];
  for (const [name, value] of rows)
    t.diagnostic(`${api.padEnd(20)}${name.padEnd(42)}${String(value).padStart(8)}`);
}
