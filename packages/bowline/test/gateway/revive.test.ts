/** The next process finds out about a message, by the entries that it reads. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { UserMessage } from "@bowline/core";
import { createMemoryStore, createSession, type AnyEntry } from "@bowline/core/session";
import type { PendingMessage } from "../../src/gateway/runs/pending.ts";
import { lastEntries, wasStarted } from "../../src/gateway/runs/revive.ts";

const sent: PendingMessage = {
  id: "run",
  kind: "send",
  sessionKey: "s",
  agentId: "assistant",
  text: "go",
  timestamp: 5,
};
const said: UserMessage = { role: "user", content: "go", timestamp: 5 };
const other: UserMessage = { role: "user", content: "other", timestamp: 6 };

const entry = (body: object): AnyEntry => ({ id: "e", seq: 1, timestamp: 10, ...body }) as never;
const start = (runId: string, more: object = {}): AnyEntry =>
  entry({ type: "run_start", runId, ...more });
const end = (runId: string, reason: string, more: object = {}): AnyEntry =>
  entry({ type: "run_end", runId, reason, ...more });
const message = (runId: string, of: UserMessage = said): AnyEntry =>
  entry({ type: "message", runId, message: of });

function check(cases: Readonly<Record<string, readonly [string, ...AnyEntry[]]>>): void {
  for (const [what, [state, ...entries]] of Object.entries(cases))
    assert.equal(wasStarted(entries, sent), state, what);
}

describe("a message that began a run", () => {
  it("is new until the transcript has it", () => {
    check({
      "no entries": ["no"],
      "only the run's start": ["no", start("run")],
      "another run of the session": ["no", start("first"), message("first", other)],
    });
  });

  it("is open while its run has no end, also during a nested run", () => {
    const nested = start("nested", { parentRunId: "run" });
    check({
      "its own run": ["open", start("run"), message("run")],
      "with a nested run": ["open", start("run"), message("run"), nested],
    });
  });

  it("is done when its run has ended or another one followed", () => {
    check({
      ended: ["done", start("run"), message("run"), end("run", "done")],
      failed: ["done", start("run"), message("run"), end("run", "error")],
      followed: ["done", start("run"), message("run"), start("next"), message("next", other)],
      "stopped before it was written": ["done", start("run"), end("run", "aborted")],
      "in the transcript of another run": [
        "done",
        message("first"),
        start("run"),
        end("run", "error"),
      ],
    });
  });

  it("begins again when its run failed or was interrupted before the transcript had it", () => {
    check({
      failed: ["no", start("run"), end("run", "error")],
      interrupted: ["no", start("run"), end("run", "interrupted")],
      "failed, then another run": ["held", start("run"), end("run", "error"), start("next")],
      "not ended, then another run": ["held", start("run"), start("next")],
    });
  });

  it("does not begin again when it was aborted", () => {
    const aborted: PendingMessage = { ...sent, isAborted: true };
    for (const reason of ["error", "interrupted"])
      assert.equal(wasStarted([start("run"), end("run", reason)], aborted), "done", reason);
  });
});

describe("a message that joined a run", () => {
  const steered: PendingMessage = { ...sent, id: "key", kind: "steer" };

  it("waits for the next run if its own was stopped or failed after it", () => {
    for (const [reason, state] of [
      ["aborted", "held"],
      ["error", "held"],
      ["done", "no"],
      ["length", "no"],
      ["budget", "no"],
    ])
      assert.equal(wasStarted([start("run"), end("run", reason ?? "")], steered), state, reason);
  });

  it("does not wait because of a run that was stopped before it was sent", () => {
    for (const [timestamp, state] of [
      [4, "no"],
      [5, "held"],
    ] as const)
      assert.equal(
        wasStarted([start("run"), end("run", "aborted", { timestamp })], steered),
        state,
        String(timestamp),
      );
  });

  it("is done once the transcript has it", () => {
    assert.equal(
      wasStarted([start("run"), message("run"), end("run", "aborted")], steered),
      "done",
    );
  });
});

describe("the last entries of a session", () => {
  /** The types of the entries that are read of a session with these. */
  async function read(
    ...entries: readonly object[]
  ): Promise<{ all: AnyEntry[]; starts: unknown[] }> {
    const store = createMemoryStore();
    const session = await createSession(store, { id: "s" });
    for (const one of entries) await session.append(one as never);
    await session.close();
    const all = await lastEntries(store, "s");
    const starts = all.flatMap((one) =>
      one.type === "run_start" ? [(one as never)["runId"]] : [],
    );
    return { all, starts };
  }
  const begin = (runId: string, more: object = {}): object => ({
    type: "run_start",
    runId,
    agentName: "a",
    ...more,
  });
  const notes = (runId: string, count: number): object[] =>
    Array.from({ length: count }, () => ({ type: "message", runId, message: other }));

  it("are none if there is no session", async () => {
    assert.deepEqual(await lastEntries(createMemoryStore(), "s"), []);
  });

  it("are bounded, beyond the last run", async () => {
    const { all, starts } = await read(begin("one"), ...notes("one", 2000), begin("two"));
    assert.deepEqual([all.length, starts], [2000, ["two"]]);
    assert.equal(all.at(-1)?.type, "run_start");
  });

  it("include the whole last run, however long it is and whatever runs it began", async () => {
    const { starts } = await read(
      begin("zero"),
      ...notes("zero", 10),
      begin("one"),
      ...notes("one", 2100),
      begin("nested", { parentRunId: "one" }),
    );
    assert.deepEqual(starts, ["one", "nested"]);
  });
});
