/** A run as server-sent events, without a server. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FollowedRun } from "../../src/gateway/engine/engine.ts";
import type { RunEventName } from "../../src/gateway/log/run-log.ts";
import type { RunState } from "../../src/gateway/protocol/protocol.ts";
import { Listeners } from "../../src/gateway/server/listeners.ts";
import { streamRun } from "../../src/gateway/server/run-stream.ts";
import { within } from "../../../../test/support/within.ts";

const message = (event: RunEventName, seq: number, runId = "r") => {
  const json = JSON.stringify({ event, data: { runId, sessionKey: "s", seq } });
  return { event, frame: { json, runId, seq } };
};
const text = (event: RunEventName, seq: number): string =>
  `id: ${seq}\nevent: ${event}\ndata: {"runId":"r","sessionKey":"s","seq":${seq}}\n\n`;

/** The stream of the run `r`, of which the client has missed `missed`. */
function streamOf(
  state: RunState,
  missed: readonly ReturnType<typeof message>[] = [],
  maxBytes = 1000,
) {
  const listeners = new Listeners();
  const run: FollowedRun = {
    info: { runId: "r", sessionKey: "s", state, seq: missed.length - 1 },
    missed: () => missed,
    release: () => {},
  };
  let cuts = 0;
  const stream = streamRun(run, { listeners, maxBytes, cutOff: () => void cuts++ });
  return {
    listeners,
    stream,
    cuts: () => cuts,
    /** Publishes an event in the session of the run. */
    tell: ({ event, frame }: ReturnType<typeof message>) => listeners.publish("s", frame, event),
    /** Resolves with the whole stream. */
    text: () => within("the stream ends", new Response(stream).text(), 5000),
  };
}

describe("the stream of a run", () => {
  it("has what the client missed, then the run's events until its end", async () => {
    const { listeners, tell, text: whole } = streamOf("running", [message("chat.turn", 0)]);
    assert.equal(listeners.size, 1);
    tell(message("chat.turn", 1));
    tell(message("chat.final", 2));
    tell(message("chat.turn", 3));
    assert.equal(listeners.size, 0);
    assert.equal(
      await whole(),
      text("chat.turn", 0) + text("chat.turn", 1) + text("chat.final", 2),
    );
  });

  it("leaves out the other runs of the session, and their end", async () => {
    const { tell, text: whole } = streamOf("running");
    tell(message("chat.turn", 7, "other"));
    tell(message("chat.final", 8, "other"));
    tell(message("chat.aborted", 0));
    assert.equal(await whole(), text("chat.aborted", 0));
  });

  it("ends after what the client missed when the run has ended", async () => {
    for (const state of ["final", "unknown"] as const) {
      const missed = state === "final" ? [message("chat.final", 0)] : [message("chat.turn", 0)];
      const { listeners, text: whole } = streamOf(state, missed);
      assert.equal(listeners.size, 0, state);
      assert.equal(await whole(), text(missed[0]?.event ?? "chat.turn", 0));
    }
  });

  it("has a comment for each tick, and ends at a shutdown", async () => {
    const { listeners, text: whole } = streamOf("running");
    listeners.broadcast("tick", { time: 1 });
    listeners.broadcast("shutdown", { reason: "an update" });
    assert.equal(await whole(), ':\n\nevent: shutdown\ndata: {"reason":"an update"}\n\n');
    assert.equal(listeners.size, 0);
  });

  it("cuts its reader off above the limit of buffered bytes, not at it", async () => {
    const { length } = text("chat.turn", 0);
    const { stream, tell, cuts } = streamOf("running", [], 2 * length);
    tell(message("chat.turn", 0));
    tell(message("chat.turn", 1));
    assert.equal(cuts(), 0);
    tell(message("chat.turn", 2));
    assert.equal(cuts(), 1);
    await stream.cancel();
  });

  it("stops listening when its reader leaves", async () => {
    const { listeners, stream, tell } = streamOf("running");
    await stream.cancel();
    assert.equal(listeners.size, 0);
    tell(message("chat.turn", 0)); // an event for a closed stream would throw
  });
});
