/** Random operations on messages and runs have the results of a model. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { EntryBody } from "@bowline/core/session";
import type { MessagePlace, PostgresStore } from "../src/index.ts";
import { skip, startRig } from "./support.ts";

const rig = await startRig();
const RUNS = Number(process.env.BOWLINE_POSTGRES_RUNS ?? 20);
const message = { role: "user", content: "x", timestamp: 1 } as const;

type Queue = "steering" | "followUp" | "start";

type Operation =
  | { readonly op: "push"; readonly session: string; readonly id: string; readonly queue: Queue }
  | {
      readonly op: "claim";
      readonly session: string;
      readonly id: string;
      /** Under another id than that of the message. */
      readonly isOther: boolean;
    }
  | {
      readonly op: "drain";
      readonly session: string;
      readonly run: string;
      readonly turn: number;
    }
  | {
      readonly op: "cancel";
      readonly session: string;
      readonly ids: readonly string[] | undefined;
    }
  | { readonly op: "begin" | "end" | "interrupt"; readonly session: string; readonly run: string }
  /** The transcript of a run gets a message. */
  | { readonly op: "read"; readonly session: string; readonly run: string; readonly id: string };

const session = fc.constantFrom("s\\1", "s2\0");
const id = fc.constantFrom("a", "b\0", "c\\", "d\uD800", "e".repeat(512), "f");
const run = fc.oneof(
  id.map((one) => runOf(one)),
  fc.constantFrom("other\0", "another"),
);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant("push" as const),
      session,
      id,
      queue: fc.constantFrom<Queue>("steering", "followUp", "start", "start"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant("claim" as const),
      session,
      id,
      isOther: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant("drain" as const),
      session,
      run,
      turn: fc.integer({ min: 0, max: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant("cancel" as const),
      session,
      ids: fc.option(fc.uniqueArray(id, { maxLength: 3 }), { nil: undefined }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constantFrom("begin" as const, "end" as const, "interrupt" as const),
      session,
      run,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant("read" as const), session, run, id }),
  },
);

/** The run that a message begins. */
function runOf(messageId: string): string {
  return `${messageId.slice(0, 100)} run`;
}

interface ModelMessage {
  readonly id: string;
  queue: Queue | undefined;
  place: MessagePlace;
  drain?: string;
  isHeld?: boolean;
  isRead?: boolean;
}

type RunState = { state: "queued" | "running" | "ended"; reason?: string };

class ModelSession {
  messages: ModelMessage[] = [];
  readonly drains = new Set<string>();
  readonly runs = new Map<string, RunState>();

  push(messageId: string, queue: Queue): unknown {
    const known = this.messages.find((one) => one.id === messageId);
    if (known !== undefined) return known.place;
    const runId = runOf(messageId);
    let place: MessagePlace = { state: "pending" };
    if (queue === "start") {
      const before = this.runs.get(runId);
      // Another message renamed its run to this id.
      if (before?.state === "queued") return "invalid_argument";
      if (before !== undefined)
        return { state: before.reason === "cancelled" ? "cancelled" : "taken", runId };
      this.runs.set(runId, { state: "queued" });
      place = { state: "pending", runId };
    }
    this.messages.push({ id: messageId, queue, place });
    return place;
  }

  claim(messageId: string, runId: string): MessagePlace {
    let found = this.messages.find((one) => one.id === messageId);
    if (found === undefined) {
      found = { id: messageId, queue: undefined, place: { state: "pending" } };
      this.messages.push(found);
    }
    if (found.place.state !== "pending") return found.place;
    const { runId: own } = found.place;
    if (own !== undefined && own !== runId && this.runs.get(own)?.state === "queued") {
      this.runs.delete(own);
      if (!this.runs.has(runId)) this.runs.set(runId, { state: "queued" });
    }
    return (found.place = { state: "taken", runId });
  }

  drain(name: string, runId: string): string[] {
    if (!this.drains.has(name))
      for (const one of this.waiting().filter(({ queue }) => queue !== "start"))
        Object.assign(one, { place: { state: "taken", runId }, drain: name });
    this.drains.add(name);
    return this.messages
      .filter(({ drain }) => drain === name)
      .toSorted((one, other) => Number(other.isHeld ?? false) - Number(one.isHeld ?? false))
      .map((one) => one.id);
  }

  cancel(ids: readonly string[] | undefined): unknown {
    const found = this.waiting().filter((one) => ids === undefined || ids.includes(one.id));
    this.messages = this.messages.filter((one) => one.queue === "start" || !found.includes(one));
    return found.map((one) => {
      const about = { id: one.id, queue: one.queue };
      if (one.place.state !== "pending" || one.place.runId === undefined) return about;
      const { runId } = one.place;
      one.place = { state: "cancelled", runId };
      if (this.runs.get(runId)?.state === "queued")
        this.runs.set(runId, { state: "ended", reason: "cancelled" });
      return { ...about, runId };
    });
  }

  begin(runId: string): void {
    for (const [other, { state }] of this.runs)
      if (state === "running" && other !== runId) this.interrupt(other);
    this.runs.set(runId, { state: "running" });
  }

  /** What the run has taken and not read waits for the next message. */
  interrupt(runId: string): void {
    const own = this.runs.get(runId);
    if (own === undefined) return;
    if (own.state === "running")
      for (const one of this.messages) {
        const { place, isRead = false, queue } = one;
        if (place.state !== "taken" || place.runId !== runId || isRead || queue === undefined)
          continue;
        delete one.drain;
        one.place = { state: "pending" };
        one.queue = queue === "start" ? "followUp" : queue;
        one.isHeld = true;
      }
    this.runs.set(runId, { state: "ended", reason: "interrupted" });
  }

  read(messageId: string): void {
    const found = this.messages.find((one) => one.id === messageId);
    if (found !== undefined) found.isRead = true;
  }

  end(runId: string): void {
    if (this.runs.has(runId)) this.runs.set(runId, { state: "ended", reason: "done" });
  }

  waiting(): ModelMessage[] {
    const order = ["steering", "followUp", "start"];
    return this.messages
      .filter(({ place }) => place.state === "pending")
      .toSorted((one, other) => order.indexOf(one.queue ?? "") - order.indexOf(other.queue ?? ""));
  }
}

class Applied {
  readonly #store: PostgresStore;
  readonly #epochs: ReadonlyMap<string, number>;
  #count = 0;

  constructor(store: PostgresStore, epochs: ReadonlyMap<string, number>) {
    this.#store = store;
    this.#epochs = epochs;
  }

  async apply(one: Operation): Promise<unknown> {
    const { durable } = this.#store;
    const epoch = this.#epochs.get(one.session) ?? 0;
    switch (one.op) {
      case "push": {
        const { id: own, queue } = one;
        const input =
          queue === "start"
            ? { id: own, queue, message, runId: runOf(own) }
            : { id: own, queue, message };
        return durable
          .push(one.session, input)
          .catch((error: unknown) => (error as { readonly code: string }).code);
      }
      case "claim":
        return durable.claimRun(one.session, one.id, one.isOther ? "other\0" : runOf(one.id));
      case "drain": {
        const by = { runId: one.run, name: String(one.turn) };
        return (await durable.drain(one.session, epoch, by)).map((taken) => taken.id);
      }
      case "cancel":
        return durable.cancel(one.session, one.ids);
      case "begin":
      case "end":
      case "interrupt": {
        const { run: runId } = one;
        const reason = one.op === "end" ? "done" : "interrupted";
        const body: EntryBody =
          one.op === "begin" ? { type: "run_start", runId } : { type: "run_end", runId, reason };
        await durable.append(one.session, epoch, [{ key: `k${this.#count++}`, body }]);
        return undefined;
      }
      case "read": {
        const body = { type: "message", runId: one.run, message } as const;
        const key = `k${this.#count++}`;
        await durable.append(one.session, epoch, [{ key, body, messageId: one.id }]);
        return undefined;
      }
    }
  }
}

function applyToModel(model: ModelSession, one: Operation): unknown {
  switch (one.op) {
    case "push":
      return model.push(one.id, one.queue);
    case "claim":
      return model.claim(one.id, one.isOther ? "other\0" : runOf(one.id));
    case "drain":
      return model.drain(`${one.run}:${one.turn}`, one.run);
    case "cancel":
      return model.cancel(one.ids);
    case "begin":
      return model.begin(one.run);
    case "end":
      return model.end(one.run);
    case "interrupt":
      return model.interrupt(one.run);
    case "read":
      return model.read(one.id);
  }
}

let schemas = 0;

async function open(names: readonly string[]): Promise<{ store: PostgresStore; applied: Applied }> {
  const store = rig.open({ schema: `m${++schemas}` });
  const epochs = new Map<string, number>();
  for (const name of names) {
    await store.durable.ensure({ id: name, createdAt: 1 });
    epochs.set(name, await store.durable.takeEpoch(name));
  }
  return { store, applied: new Applied(store, epochs) };
}

const names = ["s\\1", "s2\0"];

describe("random operations on messages and runs", { skip }, () => {
  it("have the results of a model, and leave what it has", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { minLength: 10, maxLength: 60 }),
        async (operations) => {
          const { store, applied } = await open(names);
          const { durable } = store;
          const models = new Map(names.map((name) => [name, new ModelSession()]));
          for (const [index, one] of operations.entries()) {
            const model = models.get(one.session) as ModelSession;
            const expected = applyToModel(model, one);
            assert.deepEqual(await applied.apply(one), expected, `operation ${index}: ${one.op}`);
            assert.deepEqual(
              (await durable.waiting(one.session)).map((waiting) => waiting.id),
              model.waiting().map((waiting) => waiting.id),
              `after operation ${index}: ${one.op}`,
            );
          }
          const runs = [...models.values()].flatMap((model) => [...model.runs.values()]);
          const count = (state: string): number => runs.filter((one) => one.state === state).length;
          assert.deepEqual(await durable.countRuns(), {
            queued: count("queued"),
            running: count("running"),
          });
          for (const [name, model] of models)
            for (const [runId, { state, reason }] of model.runs)
              assert.deepEqual(
                (await durable.findRun(runId)).filter((one) => one.sessionId === name),
                [{ sessionId: name, state, ...(reason !== undefined && { reason }) }],
              );
          await store.close();
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("give each message to one run or to a cancellation, also all at once", async () => {
    const input = fc.array(
      operation.filter(({ op }) => ["push", "claim", "drain", "cancel"].includes(op)),
      { minLength: 20, maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(input, async (operations) => {
        const { store, applied } = await open(names);
        const results = await Promise.all(
          operations.map(async (one) => ({ one, result: await applied.apply(one) })),
        );
        for (const name of names) {
          const own = results.filter(({ one }) => one.session === name);
          const drained = own.filter(({ one }) => one.op === "drain");
          // The same drain may be called several times, and then has the same messages.
          const byDrain = new Map(
            drained.map(({ one, result }) => [JSON.stringify(one), result as string[]]),
          );
          for (const { one, result } of drained)
            assert.deepEqual(result, byDrain.get(JSON.stringify(one)));
          const taken = [...byDrain.values()].flat();
          const starts = own.flatMap(({ one, result }) =>
            one.op === "cancel" ? (result as { id: string; queue: Queue }[]) : [],
          );
          const cancelled = starts.filter(({ queue }) => queue === "start").map((one) => one.id);
          assert.equal(new Set(cancelled).size, cancelled.length);
          const waiting = (await store.durable.waiting(name)).map((one) => one.id);
          for (const one of new Set(
            own.flatMap(({ one: { op, ...rest } }) =>
              op === "push" && "id" in rest ? [rest.id] : [],
            ),
          )) {
            const place = await store.durable.findMessage(name, one);
            assert.equal(waiting.includes(one), place?.state === "pending");
            assert.equal(cancelled.includes(one), place?.state === "cancelled");
            const removed = starts.filter((other) => other.id === one && other.queue !== "start");
            if (place === undefined) assert.ok(removed.length > 0, `${one} is lost`);
            // One that was removed and pushed again may be drained twice.
            const times = taken.filter((other) => other === one).length;
            assert.ok(times <= 1 + removed.length, `${one} was drained ${times} times`);
            const claims = own.filter(({ one: other }) => other.op === "claim" && other.id === one);
            for (const { result } of claims) assert.deepEqual(result, place);
          }
        }
        await store.close();
      }),
      { numRuns: Math.ceil(RUNS / 2) },
    );
  });
});
