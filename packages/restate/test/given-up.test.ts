/** Runs that the watchdog ends: each message that they took is in the transcript or waits. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ObjectContext } from "@restatedev/restate-sdk";
import { recoverSession } from "../src/handlers.ts";
import type { RecoverOutcome } from "../src/wire.ts";
import { calls, testRun, type TestRun } from "./support.ts";

const say = (content: string) => ({ role: "user", content, timestamp: 1 }) as const;

interface Scene {
  readonly test: TestRun;
  /** Whether the model's first answer brings more messages. */
  isFirst: boolean;
}

async function begin(): Promise<Scene> {
  const test = testRun({
    answers: [calls("tool"), "one", "two", "three", "four"],
    tools: { tool: {} },
    async onAsk() {
      if (!scene.isFirst) return;
      scene.isFirst = false;
      for (const id of ["1", "2"])
        await session.push("s", { id, queue: "followUp", message: say(id) });
      await session.push("s", { id: "s", queue: "steering", message: say("s") });
    },
  });
  const scene = { test, isFirst: true };
  const { session } = test.store;
  await session.push("s", { id: "early", queue: "followUp", message: say("early") });
  await session.push("s", { id: "m1", queue: "start", message: say("go"), runId: "r" });
  return scene;
}

const input = { messageId: "m1", message: say("go"), runId: "r" };
const next = { messageId: "n", message: say("next"), runId: "q" };

/** Ends the run as the watchdog does, after its invocation was killed. */
async function giveUp({ engine, store }: TestRun): Promise<RecoverOutcome> {
  engine.kill();
  const context = {
    key: "s",
    run: (_name: string, work: () => Promise<unknown>) => work(),
    stateKeys: async () => [...engine.state.keys()],
    clear: (name: string) => void engine.state.delete(name),
  } as unknown as ObjectContext;
  const outcome = await recoverSession(context, store, { reason: "The run could not go on." });
  engine.commands.length = 0;
  engine.notifications.length = 0;
  return outcome;
}

const textOf = (message: unknown): string => (message as { readonly content: string }).content;

/** The texts of the users' messages in the transcript. */
function said({ store }: TestRun): string[] {
  return store.session.entries
    .map((entry) => (entry as { message?: { role: string } }).message)
    .flatMap((message) => (message?.role === "user" ? [textOf(message)] : []));
}

/** The texts of messages in the inbox that no run has. */
function waiting({ store }: TestRun, isHeld: boolean): string[] {
  return store.session.inbox.flatMap((row) =>
    row.runId === undefined && (row.isHeld === true) === isHeld ? [textOf(row.input.message)] : [],
  );
}

describe("a run that the watchdog ends", () => {
  it("has each message in the transcript, or leaves it held, whenever it is killed", async () => {
    const whole = await begin();
    await whole.test.run(input);
    const steps = whole.test.engine.commands.filter(({ kind }) => kind === "run");
    assert.deepEqual(said(whole.test).toSorted(), ["1", "2", "early", "go", "s"]);
    const left = new Map<string, string[]>();
    for (const { name } of steps)
      for (const moment of ["killsBefore", "killsAfter"] as const) {
        const scene = await begin();
        const { test } = scene;
        const { session } = test.store;
        test.engine[moment] = (step) => step === name;
        await test.attempt(input);
        const hasBegun = session.entries.some(({ type }) => type === "run_start");
        const hasEnded = session.entries.some(({ type }) => type === "run_end");
        const outcome = await giveUp(test);
        assert.equal(outcome.runId, hasBegun && !hasEnded ? "r" : undefined);
        scene.isFirst = false;
        const label = `${moment} ${name}`;
        const sent = session.inbox.map((row) => textOf(row.input.message));
        const held = waiting(test, true);
        left.set(label, held);
        const where = [...said(test), ...held, ...waiting(test, false)];
        assert.deepEqual(where.toSorted(), sent.toSorted(), label);
        // The next message brings them in, before it.
        const before = said(test).length;
        await session.push("s", { id: "n", queue: "start", message: say("next"), runId: "q" });
        test.engine[moment] = () => false;
        await test.run(next);
        assert.deepEqual(
          said(test).slice(before, before + held.length + 1),
          [...held, "next"],
          label,
        );
        assert.deepEqual(
          [...said(test), ...waiting(test, false)].toSorted(),
          [...sent, "next"].toSorted(),
          label,
        );
      }
    assert.deepEqual(left.get("killsAfter start"), ["early", "go"]);
    assert.deepEqual(left.get("killsAfter inbox:1"), ["early", "1", "2", "s"]);
  });
});
