import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gatewayWith, token, wait, type TestGateway } from "./gateway.ts";

const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

async function post(server: TestGateway, body: unknown, own: Record<string, string> = headers): Promise<Response> {
  return fetch(`${server.gateway.url}/api/chat`, { method: "POST", headers: own, body: JSON.stringify(body) });
}

function eventsOf(text: string): { id: number; event: string; data: { seq: number; text?: string } }[] {
  return text.split("\n\n").flatMap((block) => {
    const found = /^(?:id: (\d+)\n)?event: (.+)\ndata: (.+)$/.exec(block);
    if (found === null) return [];
    return [{ id: Number(found[1]), event: found[2] ?? "", data: JSON.parse(found[3] ?? "") as { seq: number } }];
  });
}

describe("a run over plain HTTP", () => {
  it("is started with a request and read as a stream of events, from any number on", async () => {
    await using server = await gatewayWith(["word ".repeat(20).trim()], { pace: { delayMs: 2 } });
    const started = await post(server, { sessionKey: "s", message: "Hi" });
    assert.equal(started.status, 202);
    const { runId, events } = (await started.json()) as { runId: string; events: string };
    const all = eventsOf(await (await fetch(`${server.gateway.url}${events}?seq=-1`, { headers })).text());
    assert.deepEqual(
      all.map(({ id }) => id),
      all.map((_, index) => index),
    );
    assert.equal(all.at(-1)?.event, "chat.final");
    assert.equal(
      all.flatMap(({ event, data }) => (event === "chat.delta" ? [data.text] : [])).join(""),
      "word ".repeat(20).trim(),
    );
    const rest = await fetch(`${server.gateway.url}${events}`, { headers: { ...headers, "last-event-id": "3" } });
    assert.deepEqual(eventsOf(await rest.text()), all.slice(4));
    const client = await server.client();
    assert.equal((await client.call("chat.history", { sessionKey: "s" })).messages.length, 2);
    assert.ok(runId);
  });

  it("goes on when its reader leaves", async () => {
    await using server = await gatewayWith(["word ".repeat(30)], { pace: { delayMs: 3 } });
    const { runId, events } = (await (await post(server, { sessionKey: "s", message: "Hi" })).json()) as Record<
      string,
      string
    >;
    const leaving = new AbortController();
    const response = await fetch(`${server.gateway.url}${events}`, { headers, signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    const client = await server.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId: runId ?? "" });
    assert.equal((await client.end(runId ?? "")).event, "chat.final");
    await wait(10);
    assert.equal((await client.call("health.check", {})).connections, 1);
  });

  it("needs the token, fits its schema, and comes from no foreign page", async () => {
    await using server = await gatewayWith([]);
    const good = { sessionKey: "s", message: "Hi" };
    assert.equal((await post(server, good, {})).status, 401);
    assert.equal((await post(server, good, { authorization: "Bearer wrong" })).status, 401);
    assert.equal((await post(server, good, { authorization: "Bearer for-reading-only" })).status, 403);
    assert.equal((await post(server, { sessionKey: "s" })).status, 400);
    assert.equal((await post(server, { ...good, message: "x".repeat(2_000_000) })).status, 400);
    assert.equal((await post(server, good, { ...headers, origin: "http://evil.example" })).status, 403);
    assert.equal((await fetch(`${server.gateway.url}/api/runs/none/events`, { headers })).status, 404);
    assert.equal((await fetch(`${server.gateway.url}/api/else`, { headers })).status, 404);
  });
});

it("hands what is not its own to the page", async () => {
  const page = (request: Request): Response => new Response(`page ${new URL(request.url).pathname}`);
  await using server = await gatewayWith([], { page });
  assert.equal(await (await fetch(`${server.gateway.url}/x`)).text(), "page /x");
});
