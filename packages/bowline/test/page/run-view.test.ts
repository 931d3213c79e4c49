import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { EventFrame } from "../../src/gateway/protocol/frame.ts";
import { RunLog, type RunEventBody, type RunEventName } from "../../src/gateway/log/run-log.ts";
import type { RunEvent } from "../../src/gateway/client/client.ts";
import { foldRun, newRun, type RunView } from "../../src/page/state/run-view.ts";

type Said = {
  [E in RunEventName]: { readonly event: E; readonly body: RunEventBody<E> };
}[RunEventName];

const text = fc.string({ maxLength: 6 });
const turn = fc.nat({ max: 2 });
const toolCallId = fc.constantFrom("one", "two", "again");
const name = fc.constantFrom("bash", "read");
const error = { code: "server_error" as const, message: "no", retryable: true };

const said = fc.oneof(
  fc.record({
    event: fc.constant("chat.user"),
    body: fc.record(
      {
        text,
        files: fc.constant([{ mimeType: "application/pdf", name: "a.pdf", bytes: 3 }]),
        added: fc.constant([{ label: "a note" }, { label: "the file a.ts", file: "a.ts" }]),
      },
      { requiredKeys: ["text"] },
    ),
  }),
  fc.record({
    event: fc.constantFrom("chat.delta", "chat.thinking"),
    body: fc.record({ turn, text }),
  }),
  fc.record({
    event: fc.constant("chat.tool_call"),
    body: fc.record({ toolCallId, name, arguments: fc.jsonValue() }),
  }),
  fc.record({ event: fc.constant("tool.progress"), body: fc.record({ toolCallId, name, text }) }),
  fc.record({
    event: fc.constant("chat.tool_result"),
    body: fc.record({
      toolCallId,
      name,
      output: text,
      isError: fc.boolean(),
      durationMs: fc.nat({ max: 99 }),
    }),
  }),
  fc.record({
    event: fc.constant("chat.turn"),
    body: fc.record({ turn, provider: name, model: name, usage: fc.constant({ inputTokens: 3 }) }),
  }),
  fc.record({ event: fc.constant("chat.notice"), body: fc.record({ code: name, message: text }) }),
) as fc.Arbitrary<Said>;

const ends: fc.Arbitrary<Said> = fc.constantFrom<Said>(
  { event: "chat.final", body: { usage: {}, stopReason: "stop" } },
  { event: "chat.error", body: { message: "no", errorKind: "unknown", error } },
  { event: "chat.aborted", body: { usage: {} } },
);

/**
 * Returns the events of a run, and what the server would send to a client that joins after event
 * `late`.
 */
function publish(
  all: readonly Said[],
  late: number,
): { frames: RunEvent[]; toLatecomer: RunEvent[] } {
  const frames: RunEvent[] = [];
  let toLatecomer: RunEvent[] = [];
  const log = new RunLog({
    runId: "r",
    sessionKey: "s",
    maxEvents: 5,
    maxLength: 500,
    publish: ({ json }) => frames.push(JSON.parse(json) as RunEvent),
  });
  log.state = "running";
  for (const [index, { event, body }] of all.entries()) {
    if (index === late)
      toLatecomer = log.since(undefined).map(({ frame }) => JSON.parse(frame.json) as RunEvent);
    log.append(event, body);
  }
  return { frames, toLatecomer: [...toLatecomer, ...frames.slice(late)] };
}

const fold = (frames: readonly EventFrame[]): RunView =>
  frames.reduce((run, frame) => foldRun(run, frame as RunEvent), newRun("r"));

describe("a run's events, folded", () => {
  it("give the same blocks and end to a client that saw all and to one that joined midway", () => {
    const runs = fc.record({
      body: fc.array(said, { maxLength: 40 }),
      end: ends,
      late: fc.nat({ max: 40 }),
    });
    fc.assert(
      fc.property(runs, ({ body, end, late }) => {
        const all = [...body, end];
        const { frames, toLatecomer } = publish(all, Math.min(late, all.length - 1));
        const [whole, joined] = [fold(frames), fold(toLatecomer)];
        assert.deepEqual(joined.blocks, whole.blocks);
        assert.deepEqual(
          [joined.state, joined.failure, joined.stopReason],
          [whole.state, whole.failure, whole.stopReason],
        );
      }),
      { numRuns: 300 },
    );
  });

  it("match the server's snapshot of the run", () => {
    fc.assert(
      fc.property(fc.array(said, { minLength: 1, maxLength: 40 }), (all) => {
        const { frames } = publish(all, all.length);
        const { toLatecomer } = publish(
          [...all, { event: "chat.notice", body: { code: "", message: "" } }],
          all.length,
        );
        const [snapshot] = toLatecomer;
        assert.equal(snapshot?.event, "chat.snapshot");
        assert.deepEqual(
          fold(frames).blocks,
          snapshot?.event === "chat.snapshot" && snapshot.data.blocks,
        );
      }),
      { numRuns: 300 },
    );
  });

  it("show one card for a call restarted after a restart, and another when its id is used again", () => {
    const call: Said = {
      event: "chat.tool_call",
      body: { toolCallId: "one", name: "read", arguments: {} },
    };
    const result: Said = {
      event: "chat.tool_result",
      body: { toolCallId: "one", name: "read", output: "ok", isError: false, durationMs: 1 },
    };
    const { frames } = publish([call, call, result, call], 0);
    const states = fold(frames).blocks.map((block) => block.type === "tool_call" && block.state);
    assert.deepEqual(states, ["done", "running"]);
  });

  it("leave the previous state unchanged, and reuse untouched blocks", () => {
    const call: Said = {
      event: "chat.tool_call",
      body: { toolCallId: "one", name: "bash", arguments: {} },
    };
    const delta: Said = { event: "chat.delta", body: { turn: 0, text: "word" } };
    const { frames } = publish([call, delta, delta], 0);
    const before = fold(frames.slice(0, 2));
    const copy = structuredClone(before);
    const after = foldRun(before, frames[2] as RunEvent);
    assert.deepEqual(before, copy);
    assert.equal(after.blocks[0], before.blocks[0]);
    assert.deepEqual(after.blocks[1], { type: "text", turn: 0, text: "wordword" });
  });
});
