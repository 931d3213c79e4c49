import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { systemClock } from "@bowline/core";
import { createMemoryStore } from "@bowline/core/session";
import { createScriptedModel } from "@bowline/core/testing";
import { createContext } from "../../src/gateway/server/context.ts";
import type { Lane } from "../../src/gateway/runs/lane.ts";
import { defaultLimits } from "../../src/gateway/protocol/limits.ts";
import { Listeners, type Listener } from "../../src/gateway/server/listeners.ts";
import { createMemoryPending } from "../../src/gateway/runs/pending.ts";
import { RunCap } from "../../src/gateway/runs/run-cap.ts";
import type { Run } from "../../src/gateway/runs/run.ts";
import { createSecretFilter } from "../../src/secrets.ts";
import { agents, gatewayWith } from "./gateway.ts";

const [a, b] = [{}, {}] as [Run, Run];
const lane = {} as Lane;

describe("the limit of concurrent runs", () => {
  it("reserves the place of a run that was reported as started", () => {
    const cap = new RunCap(1);
    assert.equal(cap.promise(a), true);
    assert.equal(cap.promise(b), false);
    assert.equal(cap.enter(b, lane), false);
    assert.equal(cap.enter(a, lane), true);
    assert.deepEqual(cap.leave(a), [lane]);
    assert.equal(cap.enter(b, lane), true);
  });

  it("passes on the place of a run that was reserved and never began", () => {
    const cap = new RunCap(1);
    cap.promise(a);
    assert.equal(cap.enter(b, lane), false);
    assert.deepEqual(cap.leave(a), [lane]);
    assert.equal(cap.enter(b, lane), true);
  });
});

it("a run that is stopped between its reservation and its answer passes on its place", async () => {
  const { model, streamFn } = createScriptedModel(["Here."]);
  const listeners = new Listeners();
  const ended = Promise.withResolvers<string>();
  const listener: Listener = {
    event: (name, { runId = "" }) => void (name === "chat.final" && ended.resolve(runId)),
  };
  listeners.add(listener);
  listeners.subscribe(listener, "t");
  const { runs } = await createContext(
    {
      store: createMemoryStore(),
      agents: () => agents,
      backendFor: () => ({ model, streamFn, isPractice: false }),
      systemPrompt: () => "",
      workspacePath: "/work",
    },
    {
      limits: { ...defaultLimits, maxRuns: 1 },
      clock: systemClock,
      createId: randomUUID,
      filter: createSecretFilter([]),
      clients: listeners,
    },
  );
  const first = await runs.accept(
    { sessionKey: "s", message: "Hi", idempotencyKey: "first" },
    "send",
  );
  const second = await runs.accept(
    { sessionKey: "t", message: "Hi", idempotencyKey: "second" },
    "send",
  );
  assert.deepEqual([first.result.status, second.result.status], ["started", "queued"]);
  second.start();
  const stopping = runs.abort({ sessionKey: "s" });
  first.start();
  assert.deepEqual(await stopping, ["first"]);
  assert.equal(await ended.promise, "second");
});

it("a resumed run that waits for a place can be stopped or deleted", async () => {
  const [store, pending] = [createMemoryStore(), createMemoryPending()];
  const ids = ["a", "b", "c"];
  const never = (): Promise<never> => new Promise(() => {});
  const first = await gatewayWith([never, never, never], { store, pending });
  const before = await first.client();
  for (const id of ids) {
    await before.call("chat.send", { sessionKey: id, message: "go", idempotencyKey: id });
    await before.event("chat.user", id);
  }
  await first[Symbol.asyncDispose]();
  await using second = await gatewayWith([never, never, never], {
    store,
    pending,
    limits: { maxRuns: 1 },
  });
  const client = await second.client();
  const states: string[] = [];
  for (const id of ids) {
    const { runs } = await client.call("chat.subscribe", { sessionKey: id, runId: id, seq: -1 });
    states.push(runs[0]?.state ?? "");
  }
  assert.deepEqual(states, ["running", "queued", "queued"]);
  assert.deepEqual((await client.call("chat.abort", { runId: "b" })).runIds, ["b"]);
  assert.equal((await client.end("b")).event, "chat.aborted");
  assert.deepEqual(await client.call("sessions.delete", { sessionKey: "c" }), { deleted: true });
  assert.equal((await client.end("c")).event, "chat.aborted");
  assert.equal(
    (await client.call("sessions.get", { sessionKey: "a" })).session.runs[0]?.state,
    "running",
  );
});
