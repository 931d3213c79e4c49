import assert from "node:assert/strict";
import { once } from "node:events";
import { request as requestOf, type ClientRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { createMemoryStore, createSession, type Store } from "@bowline/core/session";
import { gatewayWith, token, wait, type TestGateway } from "./gateway.ts";
import { within } from "../../../../test/support/within.ts";

const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

async function post(
  server: TestGateway,
  body: unknown,
  own: Record<string, string> = headers,
): Promise<Response> {
  return fetch(`${server.gateway.url}/api/chat`, {
    method: "POST",
    headers: own,
    body: JSON.stringify(body),
  });
}

function eventsOf(
  text: string,
): { id: number; event: string; data: { seq: number; text?: string } }[] {
  return text.split("\n\n").flatMap((block) => {
    const found = /^(?:id: (\d+)\n)?event: (.+)\ndata: (.+)$/.exec(block);
    if (found === null) return [];
    return [
      {
        id: Number(found[1]),
        event: found[2] ?? "",
        data: JSON.parse(found[3] ?? "") as { seq: number },
      },
    ];
  });
}

describe("a run over plain HTTP", () => {
  it("is started by a request and read as a stream of events, from any sequence number", async () => {
    await using server = await gatewayWith(["word ".repeat(20).trim()], { pace: { delayMs: 2 } });
    const started = await post(server, { sessionKey: "s", message: "Hi" });
    assert.equal(started.status, 202);
    const { runId, events } = (await started.json()) as { runId: string; events: string };
    const stream = await fetch(`${server.gateway.url}${events}&seq=-1`, { headers });
    const all = eventsOf(await within("the stream ends with its run", stream.text()));
    assert.deepEqual(
      all.map(({ id }) => id),
      all.map((_, index) => index),
    );
    assert.equal(all.at(-1)?.event, "chat.final");
    assert.equal(
      all.flatMap(({ event, data }) => (event === "chat.delta" ? [data.text] : [])).join(""),
      "word ".repeat(20).trim(),
    );
    const rest = await fetch(`${server.gateway.url}${events}`, {
      headers: { ...headers, "last-event-id": "3" },
    });
    assert.deepEqual(eventsOf(await rest.text()), all.slice(4));
    const client = await server.client();
    assert.equal((await client.call("chat.history", { sessionKey: "s" })).messages.length, 2);
    assert.ok(runId);
  });

  it("continues when its reader disconnects", async () => {
    await using server = await gatewayWith(["word ".repeat(30)], { pace: { delayMs: 3 } });
    const { runId, events } = (await (
      await post(server, { sessionKey: "s", message: "Hi" })
    ).json()) as Record<string, string>;
    const leaving = new AbortController();
    const response = await fetch(`${server.gateway.url}${events}`, {
      headers,
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    const client = await server.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId: runId ?? "" });
    assert.equal((await client.end(runId ?? "")).event, "chat.final");
    await wait(10);
    assert.equal((await client.call("health.check", {})).connections, 1);
  });

  it("requires a token, a valid body, and an allowed origin", async () => {
    await using server = await gatewayWith([]);
    const good = { sessionKey: "s", message: "Hi" };
    assert.equal((await post(server, good, {})).status, 401);
    assert.equal((await post(server, good, { authorization: "Bearer wrong" })).status, 401);
    assert.equal(
      (await post(server, good, { authorization: "Bearer for-reading-only" })).status,
      403,
    );
    assert.equal((await post(server, { sessionKey: "s" })).status, 400);
    assert.equal((await post(server, { ...good, message: "x".repeat(2_000_000) })).status, 400);
    assert.equal(
      (await post(server, good, { ...headers, origin: "http://evil.example" })).status,
      403,
    );
    assert.equal(
      (await fetch(`${server.gateway.url}/api/runs/none/events`, { headers })).status,
      404,
    );
    assert.equal((await fetch(`${server.gateway.url}/api/else`, { headers })).status, 404);
  });

  it("is refused with a message that says what to do", async () => {
    await using server = await gatewayWith([]);
    const said = async (path: string, init: RequestInit = {}): Promise<string> => {
      const response = await fetch(`${server.gateway.url}${path}`, { headers, ...init });
      return ((await response.json()) as { error: { message: string } }).error.message;
    };
    const send = (body: BodyInit, more: object = {}): Promise<string> =>
      said("/api/chat", { method: "POST", body, ...more });
    assert.match(
      await said("/api/chat"),
      /The routes are POST \/api\/chat, GET \/api\/runs\/<id>\/events and GET \/api\/files\.$/,
    );
    assert.match(
      await said("/api/runs/none/events"),
      /remembers no such run; \?sessionKey=… lets it look further\.$/,
    );
    assert.equal(await said("/api/runs/none/events?sessionKey=s"), "The session has no such run.");
    assert.equal(
      await send("{}", { headers: { authorization: "Bearer wrong" } }),
      "The token is wrong.",
    );
    assert.equal(
      await send("{}", { headers: {} }),
      "The request needs the token: Authorization: Bearer …",
    );
    assert.equal(
      await send("x".repeat(1_048_577)),
      "The body has 1048577 bytes. At most 1048576 are allowed.",
    );
    const chunks = new Blob(["{}"]).stream();
    assert.match(
      await send(chunks, { duplex: "half" }),
      /^A body has to say its length: it cannot come in chunks\.$/,
    );
    const foreign = await send("{}", { headers: { ...headers, origin: "http://evil.example" } });
    assert.match(foreign, /^Pages of "http:\/\/evil\.example" may not connect/);
  });

  it("is read from a valid Last-Event-ID, or else from a snapshot", async () => {
    await using server = await gatewayWith(["Yes."]);
    const { events } = (await (await post(server, { sessionKey: "s", message: "Hi" })).json()) as {
      events: string;
    };
    const read = async (more: Record<string, string>): Promise<ReturnType<typeof eventsOf>> =>
      eventsOf(
        await (
          await fetch(`${server.gateway.url}${events}`, { headers: { ...headers, ...more } })
        ).text(),
      );
    const all = await read({ "last-event-id": "-1" });
    assert.equal(all[0]?.event, "chat.user");
    for (const nothing of ["", " ", "x", "1e1", "0x1", "1.5", "NaN"]) {
      const [first, ...rest] = await read({ "last-event-id": nothing });
      assert.equal(first?.event, "chat.snapshot", nothing);
      assert.deepEqual(rest, all.slice(-1));
    }
  });

  it("returns 204 when the client has the last event and the run has ended", async () => {
    await using server = await gatewayWith(["Yes."]);
    const { events } = (await (
      await post(server, { sessionKey: "s", message: "Hi" })
    ).json()) as Begun;
    const all = eventsOf(
      await (await fetch(`${server.gateway.url}${events}&seq=-1`, { headers })).text(),
    );
    const last = Number(all.at(-1)?.id);
    for (const method of ["GET", "HEAD"]) {
      const asked = { ...headers, "last-event-id": String(last) };
      const answer = await fetch(`${server.gateway.url}${events}`, { method, headers: asked });
      assert.deepEqual([answer.status, await answer.text()], [204, ""], method);
    }
    const before = await fetch(`${server.gateway.url}${events}&seq=${last - 1}`, { headers });
    assert.deepEqual(eventsOf(await before.text()), all.slice(-1));
  });

  it("shows a snapshot and ends the stream when an interrupted run is not resumed", async () => {
    const store = createMemoryStore();
    const session = await createSession(store, { id: "s" });
    const message = { role: "user" as const, content: "Hi", timestamp: 1 };
    await session.append({ type: "run_start", runId: "left" });
    await session.append({ type: "message", runId: "left", message });
    await session.close();
    await using server = await gatewayWith([], { store });
    const path = `${server.gateway.url}/api/runs/left/events?sessionKey=s`;
    const [picture, ...rest] = eventsOf(await (await fetch(path, { headers })).text());
    assert.deepEqual([picture?.event, rest], ["chat.snapshot", []]);
    const again = await fetch(path, {
      headers: { ...headers, "last-event-id": String(picture?.id) },
    });
    assert.equal(again.status, 204);
  });

  it("is read at the same address from the next server, whatever its session key", async () => {
    const store = createMemoryStore();
    const first = await gatewayWith(["Hello."], { store });
    const { events } = (await (
      await post(first, { sessionKey: "../a?b=c&d #1", message: "Hi" })
    ).json()) as Begun;
    await (await fetch(`${first.gateway.url}${events}`, { headers })).text();
    await first[Symbol.asyncDispose]();
    await using second = await gatewayWith([], { store });
    const answer = await fetch(`${second.gateway.url}${events}`, { headers });
    assert.deepEqual(
      eventsOf(await answer.text()).map(({ event }) => event),
      ["chat.snapshot", "chat.final"],
    );
  });

  it("keeps its sequence numbers after it was evicted, whatever its session does next", async () => {
    await using server = await gatewayWith(["One.", "Two.", "Three."], { limits: { maxEnded: 1 } });
    const client = await server.client();
    const path = `${server.gateway.url}/api/runs/one/events?sessionKey=s`;
    const seen: string[] = [];
    let last = "";
    for (const idempotencyKey of ["one", "two", "three"]) {
      await client.call("chat.send", { sessionKey: "s", message: "Hi", idempotencyKey });
      await client.end(idempotencyKey);
      while ((await client.call("health.check", {})).runs > 0);
      if (idempotencyKey === "one") continue;
      const answer = await fetch(path, {
        headers: { ...headers, ...(last && { "last-event-id": last }) },
      });
      const all = eventsOf(await answer.text());
      seen.push(`${answer.status} ${all.map(({ event }) => event).join()}`);
      last = String(all.at(-1)?.id ?? last);
    }
    assert.deepEqual(seen, ["200 chat.snapshot,chat.final", "204 "]);
  });

  it("answers HEAD without counting a reader", async () => {
    await using server = await gatewayWith(["word ".repeat(500)], { pace: { delayMs: 5 } });
    const { events } = (await (
      await post(server, { sessionKey: "s", message: "Hi" })
    ).json()) as Begun;
    const head = await fetch(`${server.gateway.url}${events}`, { method: "HEAD", headers });
    assert.deepEqual([head.status, head.headers.get("content-type")], [200, "text/event-stream"]);
    assert.equal(head.headers.get("x-accel-buffering"), "no"); // nginx would buffer the stream
    const client = await server.client();
    assert.equal((await client.call("health.check", {})).connections, 1);
  });

  it("is cut off from a stalled reader, which gets the rest when it reconnects", async () => {
    // More than the socket buffers of both ends hold.
    const limits = { maxBufferedBytes: 1024 * 1024 };
    const answer = Array.from({ length: 250 }, (_, index) => `${index}`.padEnd(64_000, "-")).join(
      "",
    );
    await using server = await gatewayWith([answer], {
      limits,
      pace: { deltaLength: 64_000, delayMs: 1 },
    });
    const { runId, events } = (await (
      await post(server, { sessionKey: "s", message: "Hi" })
    ).json()) as Begun;
    const client = await server.client({ events: ["chat.final"] });
    await client.call("chat.subscribe", { sessionKey: "s", runId, seq: -1 });
    const [, slow] = await reader(server, `${events}&seq=-1`);
    let text = "";
    slow.setEncoding("utf8").once("data", (chunk: string) => {
      text += chunk;
      slow.pause();
    });
    await client.end(runId);
    for (
      let left = 2000;
      left > 0 && (await client.call("health.check", {})).connections > 1;
      left--
    )
      await wait(10);
    assert.equal((await client.call("health.check", {})).connections, 1, "it is let go");
    slow.on("data", (chunk: string) => (text += chunk)).on("error", () => {});
    slow.resume();
    await new Promise((resolve) => void slow.once("close", resolve));
    assert.equal(slow.complete, false, "it sees that it was cut off");
    const seen = eventsOf(text.slice(0, text.lastIndexOf("\n\n") + 2));
    const last = String(seen.at(-1)?.id);
    const rest = await fetch(`${server.gateway.url}${events}`, {
      headers: { ...headers, "last-event-id": last },
    });
    const [picture, end] = eventsOf(await rest.text());
    assert.deepEqual(
      [picture?.event, end?.event],
      ["chat.snapshot", "chat.final"],
      "so much is not held",
    );
    assert.ok(seen.length > 1 && Number(picture?.id) >= Number(last));
  });

  it("gets keep-alive comments, and an event when the server shuts down", async () => {
    await using server = await gatewayWith(["word ".repeat(500)], {
      limits: { tickIntervalMs: 20, closeGraceMs: 60_000 },
      pace: { delayMs: 20 },
    });
    const { events } = (await (
      await post(server, { sessionKey: "s", message: "Hi" })
    ).json()) as Begun;
    const response = await fetch(`${server.gateway.url}${events}&seq=-1`, { headers });
    const text = response.text();
    await wait(100);
    const from = performance.now();
    await server.gateway.close("for the test");
    assert.ok(performance.now() - from < 30_000, "a reader does not hold it up");
    const said = await text;
    assert.match(said, /\n\n:\n\n/);
    assert.match(said, /\n\nevent: shutdown\ndata: \{"reason":"for the test"\}\n\n$/);
  });

  it("can have as many readers as the limit of connections", async () => {
    await using server = await gatewayWith(["word ".repeat(500)], {
      limits: { maxConnections: 2 },
      pace: { delayMs: 5 },
    });
    const { events } = (await (
      await post(server, { sessionKey: "s", message: "Hi" })
    ).json()) as Begun;
    const readers = [await reader(server, events), await reader(server, events)];
    const third = await fetch(`${server.gateway.url}${events}`, { headers });
    assert.deepEqual([third.status, await codeOf(third)], [429, "busy"]);
    const [error] = (await once(server.socket(), "error")) as [Error];
    assert.match(error.message, /503/);
    readers[0]?.[0].destroy();
    // It may only be half-closed. The server notices the disconnect when it writes.
    let status = 429;
    for (let left = 100; left > 0 && status === 429; left--) {
      await wait(10);
      const again = await fetch(`${server.gateway.url}${events}`, { headers });
      await again.body?.cancel();
      ({ status } = again);
    }
    assert.equal(status, 200);
    readers[1]?.[0].destroy();
  });

  it("does not count a reader that disconnected while the run was being looked up", async () => {
    const store = createMemoryStore();
    const asked = deferred();
    const found = deferred();
    let isSlow = false;
    const slow: Store = {
      ...store,
      async *read(...about) {
        if (isSlow) asked.resolve();
        if (isSlow) await found.promise;
        yield* store.read(...about);
      },
    };
    await using server = await gatewayWith(["Hi."], {
      store: slow,
      limits: { maxConnections: 1, maxEnded: 0 },
    });
    const { events: path } = (await (
      await post(server, { sessionKey: "s", message: "Hi" })
    ).json()) as Begun;
    await (await fetch(`${server.gateway.url}${path}`, { headers })).text();
    isSlow = true;
    const gone = requestOf(`${server.gateway.url}${path}`, { headers, agent: false });
    gone.on("error", () => {}).end();
    await asked.promise;
    gone.socket?.resetAndDestroy();
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    isSlow = false;
    found.resolve();
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    const next = await fetch(`${server.gateway.url}${path}`, { headers });
    assert.deepEqual([next.status, eventsOf(await next.text()).at(-1)?.event], [200, "chat.final"]);
  });
});

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settled) => (resolve = settled));
  return { promise, resolve };
}

interface Begun {
  readonly runId: string;
  readonly events: string;
}

async function codeOf(response: Response): Promise<string | undefined> {
  return ((await response.json()) as { error: { data?: { code: string } } }).error.data?.code;
}

async function reader(
  { gateway }: TestGateway,
  path: string,
): Promise<[ClientRequest, IncomingMessage]> {
  const asked = requestOf(`${gateway.url}${path}`, { headers, agent: false });
  asked.on("error", () => {}).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return [asked, response];
}

describe("the HTTP server", () => {
  it("counts wrong tokens per client address", async () => {
    await using server = await gatewayWith(["Yes."], { limits: { maxAuthFailures: 3 } });
    const from = async (
      localAddress: string,
      authorization: string,
    ): Promise<number | undefined> => {
      const asked = requestOf(`${server.gateway.url}/api/runs/x/events`, {
        headers: { authorization },
        localAddress,
        agent: false,
      });
      asked.end();
      const [response] = (await once(asked, "response")) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    for (const expected of [401, 401, 401, 429])
      assert.equal(await from("127.0.0.2", "Bearer wrong"), expected);
    assert.equal(await from("127.0.0.2", `Bearer ${token}`), 429);
    assert.equal(await from("127.0.0.1", `Bearer ${token}`), 404);
  });

  it("limits the time for a request's head and body", async () => {
    await using server = await gatewayWith([], { limits: { authTimeoutMs: 100 } });
    const begun = (text: string): Promise<string> =>
      new Promise((resolve, reject) => {
        let said = "";
        const socket = connect(
          server.gateway.port,
          "127.0.0.1",
          () => void (text !== "" && socket.write(text)),
        );
        socket.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
        socket.on("close", () => resolve(said)).on("error", reject);
      });
    const started = performance.now();
    const head = `POST /api/chat HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-length: 5\r\n`;
    const said = await Promise.all([begun(""), begun(head), begun(`${head}\r\n{`)]);
    assert.deepEqual(
      said.map((text) => text.slice(0, 13)),
      Array<string>(3).fill("HTTP/1.1 408 "),
    );
    assert.ok(performance.now() - started < 9000); // the default is 10 s
  });

  it("closes at once despite a connection without a request", async () => {
    const server = await gatewayWith([], { limits: { closeGraceMs: 60_000 } });
    const silent = connect(server.gateway.port, "127.0.0.1");
    await once(silent, "connect");
    await wait(10);
    const started = performance.now();
    await server.gateway.close();
    assert.ok(performance.now() - started < 30_000);
    silent.destroy();
  });

  it("does not replace global classes", async () => {
    const before = [globalThis.Request, globalThis.Response];
    await using server = await gatewayWith([]);
    assert.equal((await fetch(`${server.gateway.url}/health`)).status, 200);
    assert.deepEqual([globalThis.Request, globalThis.Response], before);
  });

  it("refuses every invalid request in the same form, with a number and a code", async () => {
    await using server = await gatewayWith([]);
    const ask = async (
      path: string,
      own: Record<string, string>,
      host?: string,
    ): Promise<[unknown, unknown, unknown]> => {
      const asked = requestOf(`${server.gateway.url}${path}`, {
        headers: { ...own, ...(host !== undefined && { host }) },
        agent: false,
      });
      asked.end();
      const [response] = (await once(asked, "response")) as [IncomingMessage];
      let text = "";
      for await (const chunk of response) text += String(chunk);
      const { error } = JSON.parse(text) as { error: { code: number; data: { code: string } } };
      return [response.statusCode, error.code, error.data.code];
    };
    assert.deepEqual(await ask("/api/nothing", {}), [404, -32004, "not_found"]);
    assert.deepEqual(await ask("/api/runs/x/events", {}), [401, -32001, "unauthorized"]);
    assert.deepEqual(await ask("/health", { origin: "http://evil.example" }), [
      403,
      -32003,
      "forbidden",
    ]);
    assert.deepEqual(await ask("/health", {}, "evil.example"), [403, -32003, "forbidden"]);
    assert.deepEqual(await ask("/health", {}, "a b"), [400, -32600, "bad_request"]);
  });
});

it("passes other paths to the page", async () => {
  const page = (request: Request): Response =>
    new Response(`page ${new URL(request.url).pathname}`);
  await using server = await gatewayWith([], { page });
  assert.equal(await (await fetch(`${server.gateway.url}/x`)).text(), "page /x");
});
