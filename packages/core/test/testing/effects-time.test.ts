/** The time of the kit of effects: it moves only when neither the run nor its medium can go on. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import { createLlmFilter, type Effects } from "../../src/agent/index.ts";
import { createMemoryStore, type Store } from "../../src/session/index.ts";
import {
  createJournalHarness,
  createScriptedModel,
  effectsConformance,
  type AttemptSetup,
  type EffectsHarness,
} from "../../src/testing/index.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";
import { within } from "../../../../test/support/within.ts";
import { hello } from "../support.ts";
import { createSessionHarness } from "./session-harness.ts";

/** Runs the case of this run. */
async function run(
  about: string,
  createHarness: () => EffectsHarness,
  replays: boolean,
): Promise<void> {
  const cases = effectsConformance(createHarness, { replays });
  const found = cases.find(({ name }) => name.endsWith(` of ${about}`));
  assert.ok(found);
  await within(about, found.run());
}

/** A store whose writes take turns of the event loop, as those of a server. */
function createSlowStore(): Store {
  const store = createMemoryStore();
  const slow = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let turns = 0; turns < 3; turns++) await turn();
    return work();
  };
  return {
    ...store,
    create: (...given) => slow(() => store.create(...given)),
    open: (id) => slow(() => store.open(id)),
  };
}

describe("a medium whose work takes turns of the event loop", () => {
  it("is not taken for one that hangs, if it continues a transcript", async () => {
    const createHarness = (): EffectsHarness => ({
      ...createSessionHarness(createSlowStore),
      isBusy: () => false,
    });
    await run("one turn", createHarness, false);
  });

  it("is not taken for one that hangs while it says that it is busy", async () => {
    let busy = 0;
    const createHarness = (): EffectsHarness => {
      const own = createJournalHarness();
      return {
        ...own,
        async attempt(setup) {
          busy++;
          await wait(5);
          busy--;
          return own.attempt(setup);
        },
        isBusy: () => busy > 0 || own.isBusy?.() === true,
      };
    };
    await run("one turn", createHarness, true);
  });
});

describe("a journal in memory", () => {
  it("is busy until it has delivered its results, one at a time, each when the loop has come to rest", async () => {
    const harness = createJournalHarness();
    const { model, streamFn } = createScriptedModel([() => new Promise(() => {})]);
    const stopping = new AbortController();
    const setup: Omit<AttemptSetup, "watch"> = {
      attempt: 1,
      prompt: hello,
      config: { model, convertToLlm: createLlmFilter(), clock: new ManualClock() },
      tools: [],
      streamFn,
      output: undefined,
      onWait: () => assert.fail("waits"),
      stopped: stopping.signal,
    };
    const effects = await new Promise<Effects>((resolve) => {
      const watch: AttemptSetup["watch"] = (own) => (resolve(own as unknown as Effects), own);
      void harness.attempt({ ...setup, watch }).catch(() => {});
    });
    await settle(); // the loop waits for its model
    assert.equal(harness.isBusy?.(), false);
    const seen: unknown[] = [];
    const one = effects
      .decide?.("one", async () => 1)
      .then(async (value) => {
        for (let hop = 0; hop < 50; hop++) await Promise.resolve();
        seen.push(value, harness.isBusy?.());
      });
    const two = effects.decide?.("two", async () => 2).then((value) => seen.push(value));
    assert.equal(harness.isBusy?.(), true);
    await within("both results", Promise.all([one, two]));
    assert.deepEqual(seen, [1, true, 2]);
    await settle();
    assert.equal(harness.isBusy?.(), false);
    stopping.abort();
  });
});
