/** A replay throws the recorded failures, and says why a request has no recorded answer. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError } from "../../src/errors.ts";
import { createRecorder, type Recorder } from "../../src/transport/record.ts";
import type { Recording } from "../../src/transport/recording.ts";

/** Plays the recording after a round trip through a file. */
const player = ({ recording }: Recorder): Recorder =>
  createRecorder({
    mode: "playback",
    recording: JSON.parse(JSON.stringify(recording)) as Recording,
  });

describe("a replay", () => {
  it("replays a failure as the same kind of error, with its name and message", async () => {
    const faults = [
      [Object.assign(new Error("No proxy."), { name: "ProxyError" }), Error],
      [new TypeError("fetch failed"), TypeError],
      [new DOMException("Stopped.", "AbortError"), DOMException],
      [new DOMException("Late.", "TimeoutError"), DOMException],
      [new BowlineError("overloaded", "Busy.", { status: 529 }), BowlineError],
    ] as const;
    for (const [fault, kind] of faults) {
      const recorder = createRecorder({ mode: "record", fetch: () => Promise.reject(fault) });
      await assert.rejects(recorder.fetch("http://h/"));
      await assert.rejects(player(recorder).fetch("http://h/"), (error: Error) => {
        const { name, message, constructor } = error;
        assert.deepEqual([name, message, constructor], [fault.name, fault.message, kind]);
        assert.equal("cause" in error, false);
        if (fault instanceof BowlineError)
          assert.deepEqual([fault.code, fault.status], ["overloaded", 529]);
        return true;
      });
    }
  });

  it("reports a value of another type, and one that is missing", async () => {
    const recorder = createRecorder({ mode: "record", fetch: async () => new Response("in") });
    const ask = (fetch: Recorder["fetch"], body: object): Promise<Response> =>
      fetch("http://h/v1", { method: "POST", body: JSON.stringify(body) });
    await (await ask(recorder.fetch, { a: "1", b: 2 })).text();
    const { fetch } = player(recorder);
    for (const [body, said] of [
      [{ a: 1, b: 2 }, /differs first at body\.a: expected the string "1", received number 1\.$/],
      [{ b: 2 }, /differs first at body\.a: expected the string "1", received nothing\.$/],
      [{ a: "1", b: "2" }, /at body\.b: expected number 2, received the string "2"\.$/],
    ] as const)
      await assert.rejects(ask(fetch, body), {
        code: "invalid_state",
        message: said,
      });
  });
});
