/** The entry points over an engine that answers from elsewhere. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore } from "@bowline/core/session";
import {
  startEngine,
  type Clients,
  type Engine,
  type EngineApprovals,
  type EngineRuns,
  type EngineSessions,
} from "bowline/engine";
import { TestClient } from "./gateway.ts";

interface Seen {
  isReady?: boolean;
  clients: Clients | undefined;
  readonly calls: string[];
}

/** An engine whose answers are promises. It knows one run and one approval, of the session `ann/s`. */
function farEngine(seen: Seen): Engine {
  const later = async <T>(value: T): Promise<T> => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return value;
  };
  const frame = {
    json: '{"event":"chat.aborted","data":{"runId":"r","sessionKey":"ann/s","seq":7,"usage":{}}}',
    runId: "r",
    seq: 7,
  };
  const missed = (): [{ frame: typeof frame; event: "chat.aborted" }] => [
    { frame, event: "chat.aborted" },
  ];
  const info = { runId: "r", sessionKey: "ann/s", state: "aborted", seq: 7 } as const;
  const runs: EngineRuns = {
    count: () => later(3),
    accept: async () => assert.fail("no message was sent"),
    abort: async (which) => {
      seen.calls.push(JSON.stringify(which));
      return later(["r"]);
    },
    follow: async () => later({ runs: [info], missed }),
    followRun: async ({ runId }) =>
      later(
        runId === "r" ? { info, missed, release: () => seen.calls.push("release") } : undefined,
      ),
    waitingIn: () => later([]),
    sessionOf: (runId) => later(runId === "r" ? "ann/s" : undefined),
    sessionOfMessage: () => undefined,
  };
  const approvals: EngineApprovals = {
    list: () => later([]),
    sessionOf: (id) => later(id === "q" ? "ann/s" : undefined),
    resolve: async (id) => void seen.calls.push(id),
  };
  return {
    runs,
    approvals,
    sessions: {} as EngineSessions,
    store: createMemoryStore(),
    agents: async () => [{ id: "assistant", description: "" }],
    backendFor: async () => undefined,
    modelFor: async () => undefined,
    open: async () => {},
    tick: () => {},
    closing: () => void seen.calls.push("closing"),
    close: async () => {},
    ready: () => later({ isReady: seen.isReady ?? true, parts: [] }),
  };
}

const access = {
  ann: { scope: "full", sessions: "ann/" },
  bob: { scope: "full", sessions: "bob/" },
};

describe("the entry points over another engine", () => {
  it("check rights with what the engine looks up", async () => {
    const seen: Seen = { clients: undefined, calls: [] };
    const gateway = await startEngine(
      { port: 0, authorize: (token) => access[token as keyof typeof access] as never },
      (ports) => {
        seen.clients = ports.clients;
        return farEngine(seen);
      },
    );
    try {
      const url = `ws://127.0.0.1:${gateway.port}`;
      const [ann, bob] = [await TestClient.enter(url, "ann"), await TestClient.enter(url, "bob")];
      assert.equal((await ann.call("health.check", {})).runs, 3);
      assert.equal(await bob.refused("exec.deny", { approvalId: "q" }), "not_found");
      await ann.call("exec.deny", { approvalId: "q" });
      await ann.call("chat.abort", { runId: "r" });
      await bob.call("chat.abort", { runId: "r" });
      assert.deepEqual(seen.calls, [
        "q",
        '{"runId":"r","sessionKey":"ann/s"}',
        '{"runId":"r","sessionKey":"bob/"}',
      ]);
      ann.socket.terminate();
      bob.socket.terminate();
    } finally {
      await gateway.close();
    }
    assert.equal(seen.calls.at(-1), "closing");
  });

  it("say on /ready, without a token, whether the engine can serve", async () => {
    const seen: Seen = { clients: undefined, calls: [] };
    const gateway = await startEngine({ port: 0, token: "the-token-of-a-test" }, () =>
      farEngine(seen),
    );
    const ask = async (): Promise<unknown[]> => {
      const response = await fetch(`${gateway.url}/ready`);
      return [response.status, response.headers.get("cache-control"), await response.json()];
    };
    try {
      assert.deepEqual(await ask(), [200, "no-store", { isReady: true, parts: [] }]);
      seen.isReady = false;
      assert.deepEqual(await ask(), [503, "no-store", { isReady: false, parts: [] }]);
    } finally {
      await gateway.close();
    }
  });

  it("report followed sessions, and send what the engine says that a client missed", async () => {
    const seen: Seen = { clients: undefined, calls: [] };
    const follows: unknown[] = [];
    const gateway = await startEngine({ port: 0, token: "the-token-of-a-test" }, (ports) => {
      seen.clients = ports.clients;
      ports.clients.watch((...told) => follows.push(told));
      return farEngine(seen);
    });
    try {
      const url = `ws://127.0.0.1:${gateway.port}`;
      const one = await TestClient.enter(url, "the-token-of-a-test");
      await one.call("chat.subscribe", { sessionKey: "ann/s", runId: "r", seq: 3 });
      assert.equal((await one.end("r")).event, "chat.aborted");
      assert.equal(seen.clients?.isFollowed("ann/s"), true);
      const stream = await fetch(`${gateway.url}/api/runs/r/events?seq=3&sessionKey=ann/s`, {
        headers: { authorization: "Bearer the-token-of-a-test" },
      });
      assert.match(await stream.text(), /^id: 7\nevent: chat\.aborted\n/);
      assert.deepEqual(seen.calls, ["release"]);
      await one.call("chat.unsubscribe", { sessionKey: "ann/s" });
      assert.deepEqual(follows, [
        ["ann/s", true],
        ["ann/s", false],
      ]);
      one.socket.terminate();
    } finally {
      await gateway.close();
    }
  });

  it("refuse options that only one process has", async () => {
    const options = { port: 0, token: "the-token-of-a-test", store: createMemoryStore() };
    await assert.rejects(
      startEngine(options, () => assert.fail("not reached")),
      /"store"/,
    );
  });
});
