import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { systemClock } from "@bowline/core";
import { createMemoryStore } from "@bowline/core/session";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { createContext } from "../../src/gateway/server/context.ts";
import type { Lane } from "../../src/gateway/runs/lane.ts";
import { defaultLimits } from "../../src/gateway/protocol/limits.ts";
import { Listeners, type Listener } from "../../src/gateway/server/listeners.ts";
import { createMemoryPending } from "../../src/gateway/runs/pending.ts";
import { RunCap } from "../../src/gateway/runs/run-cap.ts";
import type { Run } from "../../src/gateway/runs/run.ts";
import { createSecretFilter } from "../../src/secrets.ts";
import { eventually } from "../../../../test/support/within.ts";
import { heldTool } from "../held-tool.ts";
import { agents, gatewayWith, type AnyFrame } from "./gateway.ts";

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

/** The runs of a server that executes one at a time, and the ids of the runs that ended. */
async function oneAtATime(...answers: string[]): Promise<{
  readonly runs: Awaited<ReturnType<typeof createContext>>["runs"];
  readonly ended: string[];
}> {
  const { model, streamFn } = createScriptedModel(answers);
  const listeners = new Listeners();
  const ended: string[] = [];
  const listener: Listener = {
    event: (name, { runId = "" }) => void (name === "chat.final" && ended.push(runId)),
  };
  listeners.add(listener);
  for (const key of ["s", "t"]) listeners.subscribe(listener, key);
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
  return { runs, ended };
}

const toFirst = { sessionKey: "s", message: "Hi", idempotencyKey: "first" };
const toSecond = { sessionKey: "t", message: "Hi", idempotencyKey: "second" };

it("a run that is stopped between its reservation and its answer passes on its place", async () => {
  const { runs, ended } = await oneAtATime("Here.");
  const first = await runs.accept(toFirst, "send");
  const second = await runs.accept(toSecond, "send");
  assert.deepEqual([first.result.status, second.result.status], ["started", "queued"]);
  second.start();
  const stopping = runs.abort({ sessionKey: "s" });
  first.start();
  assert.deepEqual(await stopping, ["first"]);
  await eventually("the other run ends", () => ended.length > 0);
  assert.deepEqual(ended, ["second"]);
});

it("a run that was reported as started begins before one that waits", async () => {
  const { runs, ended } = await oneAtATime("Here.", "There.");
  const first = await runs.accept(toFirst, "send");
  const second = await runs.accept(toSecond, "send");
  second.start();
  first.start();
  await eventually("both runs end", () => ended.length > 1);
  assert.deepEqual(ended, ["first", "second"]);
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

it("a run that waits is announced once, after the answer to its message", async () => {
  const { tool, release } = heldTool();
  const call = { content: [scriptedToolCall("wait", {}, "w")] };
  await using server = await gatewayWith([call, "One.", "Two."], {
    tools: () => [tool],
    rules: { judge: () => ({ action: "allow" }), add: async () => {} },
  });
  const client = await server.client();
  await client.call("chat.send", { sessionKey: "s", message: "a", idempotencyKey: "one" });
  await client.event("chat.tool_call", "one");
  const asked = { sessionKey: "s", message: "b", idempotencyKey: "two" };
  assert.equal((await client.call("chat.send", asked)).status, "queued");
  await client.event("chat.queued", "two");
  release();
  await client.end("two");
  const isIt = ({ event }: AnyFrame): boolean => event === "chat.queued";
  assert.equal(client.frames.filter(isIt).length, 1);
  const answer = client.frames.findIndex(
    ({ result }) => (result as { readonly runId?: string } | undefined)?.runId === "two",
  );
  assert.ok(answer >= 0 && client.frames.findIndex(isIt) > answer);
  assert.equal(client.ofRun("two")[0]?.event, "chat.queued");
});
