/** Users with a session prefix, who see no other sessions. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defineTool } from "@bowline/core";
import { createMemoryStore, createSession, type Store } from "@bowline/core/session";
import { scriptedToolCall, type ScriptedStep } from "@bowline/core/testing";
import type { Access } from "../../src/gateway/access/access.ts";
import { gatewayWith, token, wait, type TestGateway, type TestOptions } from "./gateway.ts";

const users: Readonly<Record<string, Access>> = {
  ann: { scope: "full", sessions: "ann/" },
  bob: { scope: "full", sessions: "bob/" },
};
const authorize = (given: string): Access | undefined => users[given];

function house(script: readonly ScriptedStep[], options: TestOptions = {}): Promise<TestGateway> {
  return gatewayWith(script, { authorize, ...options });
}

const touch = defineTool({
  name: "touch",
  description: "Touches a file.",
  parameters: { type: "object", properties: { path: { type: "string" } } } as const,
  execute: () => "done",
});
const call = { content: [scriptedToolCall("touch", { path: "a/b.txt" })] };

describe("a user with a session prefix", () => {
  it("is told the prefix, and gets it in generated session keys", async () => {
    await using server = await house(["Hello."]);
    const ann = await server.client({ token: "ann" });
    assert.equal(ann.welcome.sessions, "ann/");
    const { session } = await ann.call("sessions.create", {});
    assert.match(session.sessionKey, /^ann\/[\da-f-]{36}$/);
    const fork = await ann.call("sessions.fork", { sessionKey: session.sessionKey });
    assert.match(fork.session.sessionKey, /^ann\/[\da-f-]{36}$/);
    const { runId } = await ann.call("chat.send", { sessionKey: "ann/2", message: "Hi" });
    assert.equal((await ann.end(runId)).event, "chat.final");
    assert.equal((await server.client()).welcome.sessions, undefined);
  });

  it("can neither stop nor find another user's run by its id", async () => {
    await using server = await house(["word ".repeat(300)], { pace: { delayMs: 5 } });
    const [ann, bob] = [
      await server.client({ token: "ann" }),
      await server.client({ token: "bob" }),
    ];
    await bob.call("chat.send", { sessionKey: "bob/1", message: "Hi", idempotencyKey: "of-bob" });
    await bob.event("chat.delta", "of-bob");
    const nothing = { aborted: false, runIds: [] };
    assert.deepEqual(await ann.call("chat.abort", { runId: "of-bob" }), nothing);
    assert.deepEqual(await ann.call("chat.abort", { runId: "none" }), nothing);
    assert.deepEqual(
      await ann.call("chat.abort", { sessionKey: "ann/1", runId: "of-bob" }),
      nothing,
    );
    const { runs } = await ann.call("chat.subscribe", { sessionKey: "ann/1", runId: "of-bob" });
    assert.deepEqual(runs, [{ runId: "of-bob", sessionKey: "ann/1", state: "unknown", seq: -1 }]);
    const message = { sessionKey: "ann/1", message: "Hi", idempotencyKey: "of-bob" };
    assert.equal(await ann.refused("chat.send", message), "conflict");
    assert.deepEqual(await bob.call("chat.abort", { runId: "of-bob" }), {
      aborted: true,
      runIds: ["of-bob"],
    });
  });

  it("gets no sessions or approvals of other users, and cannot answer them", async () => {
    await using server = await house([call, "Done."], { tools: () => [touch] });
    const [ann, bob] = [
      await server.client({ token: "ann" }),
      await server.client({ token: "bob" }),
    ];
    const all = await server.client();
    await bob.call("chat.send", { sessionKey: "bob/1", message: "Hi" });
    const { approvalId } = await bob.event("exec.approval_request");
    assert.equal((await all.event("exec.approval_request")).approvalId, approvalId);
    await all.event("sessions.changed");
    assert.deepEqual(await ann.call("approvals.list", {}), { approvals: [] });
    assert.equal((await bob.call("approvals.list", {})).approvals.length, 1);
    for (const id of [approvalId, "none"]) {
      assert.equal(
        await ann.refused("approvals.resolve", { approvalId: id, decision: "allow-once" }),
        "not_found",
      );
      assert.equal(await ann.refused("exec.approve", { approvalId: id }), "not_found");
      assert.equal(await ann.refused("exec.deny", { approvalId: id }), "not_found");
    }
    // A permanent rule would apply to every user's sessions.
    assert.equal(
      await bob.refused("approvals.resolve", { approvalId, decision: "allow-always" }),
      "forbidden",
    );
    await bob.call("approvals.resolve", { approvalId, decision: "allow-session" });
    await bob.event("exec.approval_resolved");
    assert.equal(await ann.refused("exec.approve", { approvalId }), "not_found");
    assert.equal(await bob.refused("exec.approve", { approvalId }), "conflict");
    await bob.event("chat.final");
    await wait(300); // throttled session changes
    assert.deepEqual(
      ann.frames.filter(({ event }) => event !== undefined && event !== "tick"),
      [],
    );
  });

  it("can page through the sessions with that prefix among many others", async () => {
    const store = createMemoryStore();
    for (let at = 0; at < 1300; at++) {
      const session = await createSession(store, {
        id: `${at % 100 === 99 ? "ann" : "bob"}/${at}`,
      });
      await session.close();
    }
    await using server = await house([], { store });
    const ann = await server.client({ token: "ann" });
    const found: string[] = [];
    for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages++) {
      const page = await ann.call("sessions.list", {
        limit: 5,
        ...(cursor !== undefined && { cursor }),
      });
      assert.ok(page.sessions.length <= 5);
      found.push(...page.sessions.map(({ sessionKey }) => sessionKey));
      ({ cursor } = page);
      assert.ok(pages < 5);
    }
    const all = Array.from({ length: 13 }, (_, at) => `ann/${at * 100 + 99}`);
    assert.deepEqual(found.toSorted(), all.toSorted());
    assert.equal((await ann.call("sessions.list", { limit: 500 })).sessions.length, 13);
    assert.equal(
      (await (await server.client()).call("sessions.list", { limit: 500 })).sessions.length,
      500,
    );
  });

  it("makes the server ask its store for more than a page, which others do not", async () => {
    const own = createMemoryStore();
    const limits: unknown[] = [];
    const list: Store["list"] = (options) => {
      limits.push(options?.limit);
      return own.list(options);
    };
    await using server = await house([], { store: { ...own, list } });
    const [other, ann] = [await server.client(), await server.client({ token: "ann" })];
    limits.length = 0;
    for (const client of [other, ann])
      assert.deepEqual(await client.call("sessions.list", { limit: 5 }), { sessions: [] });
    assert.deepEqual(limits, [5, 500]);
  });

  it("has the same limits over HTTP", async () => {
    await using server = await house(["Hello.", "Hello."]);
    const { url } = server.gateway;
    const headers = (who: string): Record<string, string> => ({ authorization: `Bearer ${who}` });
    const send = async (who: string, sessionKey: string): Promise<Response> => {
      const body = JSON.stringify({
        sessionKey,
        message: "Hi",
        idempotencyKey: `of ${sessionKey}`,
      });
      return fetch(`${url}/api/chat`, { method: "POST", headers: headers(who), body });
    };
    const read = async (who: string, path: string): Promise<number> => {
      const answer = await fetch(`${url}${path}`, { headers: headers(who) });
      await answer.text();
      return answer.status;
    };
    assert.equal((await send("ann", "bob/1")).status, 403);
    const begun = await send("bob", "bob/1");
    assert.equal(begun.status, 202);
    const { events } = (await begun.json()) as { events: string };
    const [bare = ""] = events.split("?");
    assert.deepEqual([await read("bob", events), await read("bob", bare)], [200, 200]);
    assert.deepEqual([await read("ann", events), await read("ann", bare)], [403, 404]);
    assert.deepEqual(
      [await read("ann", "/api/runs/none/events"), await read(token, bare)],
      [404, 200],
    );
  });

  it("has tools and a system prompt created for the session", async () => {
    const asked: string[] = [];
    await using server = await house(["Hello."], {
      tools: (sessionKey) => {
        asked.push(`tools of ${sessionKey}`);
        return [touch];
      },
      systemPrompt: (sessionKey) => {
        asked.push(`prompt of ${sessionKey}`);
        return "You help.";
      },
    });
    const ann = await server.client({ token: "ann" });
    const { runId } = await ann.call("chat.send", { sessionKey: "ann/1", message: "Hi" });
    await ann.end(runId);
    assert.deepEqual(asked.toSorted(), ["prompt of ann/1", "tools of ann/1"]);
  });

  it("is told the prefix with typed frames, too", async () => {
    await using server = await house([]);
    const socket = server.socket();
    const hello = new Promise<string>((resolve) =>
      socket.once("message", (data: Buffer) => resolve(data.toString())),
    );
    socket.once("open", () =>
      socket.send(
        JSON.stringify({
          type: "req",
          id: "1",
          method: "connect",
          params: { auth: { token: "ann" } },
        }),
      ),
    );
    assert.match(await hello, /"auth":\{[^}]*"sessions":"ann\/"\}/);
    socket.terminate();
  });
});
