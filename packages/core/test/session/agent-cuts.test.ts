/**
 * Another process can continue wherever one ends: a whole run is cut after each of its entries and
 * resumed.
 */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import * as fc from "fast-check";
import { addUsage, type Usage } from "../../src/llm/usage.ts";
import {
  attachSession,
  createMemoryStore,
  openSession,
  resumeSession,
  type Entry,
  type RunState,
  type Store,
} from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import type { AgentMessage, AgentTool } from "../../src/agent/index.ts";
import { scriptedToolCall } from "../../src/testing/index.ts";
import { assertAccepted, user } from "../agent/context/rig.ts";
import { entriesIn, newLife, newSession, PROMPT, sessionOf, type Life } from "./agent-rig.ts";
import { temporaryFolder } from "./support.ts";
import { rig, tool } from "../support.ts";
import { texts } from "../../../../test/support/message-texts.ts";
import { sweep } from "../../../../test/support/sweep.ts";

/** The uninterrupted run: its entries, requests, messages and usage. */
let whole: { entries: Entry[]; requests: string[][]; messages: string[]; usage: Usage };

before(async () => {
  const store = createMemoryStore();
  const life = newLife();
  const session = await newSession(store);
  await attachSession(life.agent, session);
  const { reason } = await life.agent.prompt(PROMPT);
  assert.equal(reason, "done");
  const messages = texts((await session.allMessages()) as AgentMessage[]);
  const entries = await entriesIn(store, "s");
  whole = { entries, requests: life.requests.map(texts), messages, usage: usageOf(entries) };
});

const usageOf = (entries: readonly Entry[]): Usage =>
  entries.reduce<Usage>((sum, entry) => {
    if (entry.type === "usage") return addUsage(sum, entry.usage);
    const isAnswer = entry.type === "message" && entry.message.role === "assistant";
    return isAnswer ? addUsage(sum, (entry.message as unknown as { usage: Usage }).usage) : sum;
  }, {});

interface Resumed {
  readonly life: Life;
  readonly entries: Entry[];
  /** The state of the run before. */
  readonly run: RunState | undefined;
}

/** Opens a session with these entries, as a new process would, and finishes its task. */
async function goOn(store: Store, id: string, entries: readonly Entry[]): Promise<Resumed> {
  await sessionOf(store, id, entries);
  const reader = await openSession(store, id, { readOnly: true });
  const { run } = await reader.state();
  // A recorded answer is not given again, so a different one must have no effect.
  const life = newLife(() => (run !== undefined && run.answers.size > 0 ? "deny" : "allow"));
  const { session, result } = await resumeSession(store, id, life.agent);
  const isResumable = run !== undefined && run.hasBegun && run.reason === undefined;
  assert.equal(result?.runId, isResumable ? run.runId : undefined);
  const isOver = run?.reason === "done";
  const end = isOver ? undefined : (result ?? (await life.agent.prompt(PROMPT)));
  if (end !== undefined) {
    assert.deepEqual([end.reason, end.turns, end.text], ["done", 3, "Done."]);
  }
  await session.close();
  return { life, run, entries: await entriesIn(store, id) };
}

/** Checks what must hold after each resumption, for any cut. */
function check({ life, run, entries }: Resumed, cut: readonly Entry[]): void {
  assert.deepEqual(entries.slice(0, cut.length), cut, "history is kept");
  const calls = [...(run?.calls.values() ?? [])];
  const inDoubt = calls.filter(({ result }) => result === undefined).map(({ intent }) => intent);
  for (const { intent, result } of calls) {
    if (result !== undefined)
      assert.ok(!life.ran.includes(intent.idempotencyKey), `${intent.toolName} ran again`);
  }
  for (const { idempotencyKey, replay } of inDoubt) {
    const times = life.ran.filter((key) => key === idempotencyKey).length;
    assert.equal(times, replay === "safe" ? 1 : 0);
  }
  assert.equal(new Set(life.ran).size, life.ran.length);

  const messages = entries.flatMap((entry) =>
    entry.type === "message" ? [entry.message as AgentMessage] : [],
  );
  assertAccepted([...messages, user("And then?")]);
  for (const request of life.requests) assertAccepted(request);
  const unknown = inDoubt.filter(({ replay }) => replay === "never");
  const shown = texts(messages);
  for (const { toolName, idempotencyKey } of unknown) {
    const text = new RegExp(
      `^toolResult: The process ended while ${toolName} ran.* ${idempotencyKey}\\.$`,
    );
    assert.equal(shown.filter((message) => text.test(message)).length, 1);
  }
  const ends = entries.filter((entry) => entry.type === "run_end");
  assert.deepEqual([ends.at(-1)?.reason, ends.at(-1)?.usage], ["done", usageOf(entries)]);
  const isTold = shown.some((message) => /The process ended while/.test(message));
  if (!isTold) {
    assert.deepEqual(shown, whole.messages);
    // A summary whose compaction was not recorded is written again.
    const summaries = entries.filter((entry) => entry.type === "usage").map(({ usage }) => usage);
    assert.deepEqual(ends.at(-1)?.usage, summaries.slice(1).reduce(addUsage, whole.usage));
    const requests = life.requests.map(texts);
    assert.deepEqual(requests, whole.requests.slice(whole.requests.length - requests.length));
  }
  const askedNow = entries
    .slice(cut.length)
    .filter(({ type }) => type === "approval_request").length;
  const answers = entries.filter((entry) => entry.type === "approval_answer");
  assert.deepEqual(
    answers.map(({ decision, by }) => [decision, by]),
    [["allow", "person"]],
  );
  if (run !== undefined && run.answers.size > 0) assert.equal(askedNow, 0);
}

async function everyCut(store: Store): Promise<void> {
  for (let length = 0; length <= whole.entries.length; length++) {
    const cut = whole.entries.slice(0, length);
    check(await goOn(store, `cut ${length}`, cut), cut);
  }
}

describe("a run whose log is cut after any of its entries", () => {
  it("covers every kind of entry that a run can have", () => {
    const kinds = new Set(whole.entries.map(({ type }) => type));
    for (const kind of [
      "run_start",
      "message",
      "tool_intent",
      "tool_result",
      "usage",
      "compaction",
      "run_end",
    ] as const) {
      assert.ok(kinds.has(kind), kind);
    }
    assert.deepEqual(
      whole.requests.map(({ length }) => length),
      [1, 5, 4],
    );
    assert.match(
      whole.requests[2]?.[1] ?? "",
      /^user: Earlier messages were replaced by this summary/,
    );
  });

  it("is finished by another process, from a memory store", () => everyCut(createMemoryStore()));

  it("is finished by another process, from files", async () => {
    await using folder = await temporaryFolder();
    await everyCut(createJsonlStore(folder.path, { sync: "never" }));
  });

  it("is finished after repeated cuts", async () => {
    const store = createMemoryStore();
    let number = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(1000), { minLength: 1, maxLength: 5 }), async (cuts) => {
        let entries = whole.entries;
        let least = 0;
        const ran: string[] = [];
        for (const cut of cuts) {
          const length = least + (cut % (entries.length - least + 1));
          const kept = entries.slice(0, length);
          const resumed = await goOn(store, `life ${number++}`, kept);
          check(resumed, kept);
          // A call without an intent in the log had not begun.
          const begun = new Set(
            kept.flatMap((entry) => (entry.type === "tool_intent" ? [entry.idempotencyKey] : [])),
          );
          const earlier = ran.filter((key) => begun.has(key));
          ran.splice(0, ran.length, ...earlier, ...resumed.life.ran);
          const twice = ran.filter((key, at) => ran.indexOf(key) !== at && !key.endsWith("call_b"));
          assert.deepEqual(twice, []);
          ({ entries } = resumed);
          least = length;
        }
      }),
      { numRuns: sweep({ long: 60, short: 20 }) },
    );
  });

  it("sends no further request when its tools had ended it", async () => {
    const ends = (name: string): AgentTool => ({
      ...tool(name, () => ""),
      replay: "safe",
      execute: () => ({ content: [{ type: "text", text: name }], terminate: true }),
    });
    const tools = [ends("a"), ends("b")];
    const calls = { content: [scriptedToolCall("a", {}, "1"), scriptedToolCall("b", {}, "2")] };
    await using folder = await temporaryFolder();
    const store = createJsonlStore(folder.path, { sync: "never" });
    const { agent, script } = rig([calls], tools);
    await using session = await newSession(store);
    await attachSession(agent, session);
    assert.equal((await agent.prompt(PROMPT)).reason, "done");
    assert.equal(script.calls.length, 1);
    const entries = await entriesIn(store, "s");
    const answered = entries.findIndex(
      (entry) => entry.type === "message" && entry.message.role === "assistant",
    );
    for (let length = answered + 1; length < entries.length; length++) {
      await sessionOf(store, `cut ${length}`, entries.slice(0, length));
      const next = rig([], tools);
      const resumed = await resumeSession(store, `cut ${length}`, next.agent);
      assert.deepEqual(
        [resumed.result?.reason, next.script.calls.length],
        ["done", 0],
        `cut behind ${length}`,
      );
      assert.deepEqual(texts(next.agent.state.messages), texts(agent.state.messages));
      await resumed.session.close();
    }
  });

  it("numbers its new events above all earlier ones", async () => {
    const store = createMemoryStore();
    const cut = whole.entries.slice(0, 8);
    const { life, run } = await goOn(store, "s", cut);
    const seqs = life.events.filter(({ runId }) => runId === run?.runId).map(({ seq }) => seq);
    assert.ok((seqs[0] ?? 0) > 1_000_000);
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => a - b),
    );
  });
});
