/** The owner of a session: the user who created it, as authentication identified them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openSession, type Store } from "@bowline/core/session";
import type { Access } from "../../src/gateway/access/access.ts";
import { gatewayWith } from "./gateway.ts";

const users: Readonly<Record<string, Access>> = {
  ann: { scope: "full", sessions: "ann/", user: "Ann" },
  nobody: { scope: "full" },
};
const authorize = (given: string): Access | undefined => users[given];

async function ownerOf(store: Store, key: string): Promise<unknown> {
  const session = await openSession(store, key, { readOnly: true });
  return session.header.metadata?.["user"];
}

describe("the owner of a session", () => {
  const ann = { id: "Ann", sessions: "ann/" };

  it("is the user of the connection that creates it, or sends its first message", async () => {
    await using server = await gatewayWith(["Yes."], { authorize });
    const client = await server.client({ token: "ann" });
    const { session } = await client.call("sessions.create", {});
    assert.deepEqual(await ownerOf(server.store, session.sessionKey), ann);
    const sent = await client.call("chat.send", { sessionKey: "ann/new", message: "Hi" });
    await client.end(sent.runId);
    assert.deepEqual(await ownerOf(server.store, "ann/new"), ann);
  });

  it("is the user of the HTTP request that sends its first message", async () => {
    await using server = await gatewayWith(["Yes."], { authorize });
    const client = await server.client({ token: "ann" });
    await client.call("chat.subscribe", { sessionKey: "ann/new" });
    const answer = await fetch(`${server.gateway.url}/api/chat`, {
      method: "POST",
      headers: { authorization: "Bearer ann" },
      body: JSON.stringify({ sessionKey: "ann/new", message: "Hi", idempotencyKey: "run" }),
    });
    assert.equal(answer.status, 202);
    await client.end("run");
    assert.deepEqual(await ownerOf(server.store, "ann/new"), ann);
  });

  it("is unknown when authorize names no user", async () => {
    await using server = await gatewayWith([], { authorize });
    const client = await server.client({ token: "nobody" });
    const { session } = await client.call("sessions.create", {});
    assert.equal(await ownerOf(server.store, session.sessionKey), undefined);
  });
});
