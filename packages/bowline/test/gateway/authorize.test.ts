/** Tokens and users of the embedding application. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { describe, it } from "node:test";
import type { Access } from "../../src/gateway/access/access.ts";
import { closed, gatewayWith, token, type TestGateway } from "./gateway.ts";

const users: Readonly<Record<string, Access>> = { ann: { scope: "full" }, bob: { scope: "read" } };

/** Returns `in`, or the reason for the refusal. */
async function enter(
  server: TestGateway,
  given: string,
): Promise<{ said: string; code: number | undefined }> {
  const socket = server.socket();
  await once(socket, "open");
  const end = closed(socket);
  socket.send(JSON.stringify({ type: "auth", token: given }));
  const [data] = (await once(socket, "message")) as [Buffer];
  const said = data.toString();
  if (said.includes('"ok":true')) socket.terminate();
  return { said, code: said.includes('"ok":true') ? undefined : await end };
}

async function ask(
  { gateway }: TestGateway,
  given: string,
): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${gateway.url}/api/runs/x/events`, {
    headers: { authorization: `Bearer ${given}` },
  });
  return { status: answer.status, text: await answer.text() };
}

describe("authorize", () => {
  it("decides the access of a token, over sockets and HTTP, synchronously or not", async () => {
    const asked: (string | undefined)[] = [];
    const authorize = async (
      given: string,
      request: IncomingMessage,
    ): Promise<Access | undefined> => {
      asked.push(request.headers.host);
      return users[given];
    };
    await using server = await gatewayWith([], { authorize });
    assert.equal((await server.client({ token: "ann" })).welcome.scope, "full");
    const bob = await server.client({ token: "bob" });
    assert.equal(bob.welcome.scope, "read");
    assert.equal(await bob.refused("chat.send", { sessionKey: "s", message: "Hi" }), "forbidden");
    assert.equal((await ask(server, "ann")).status, 404);
    assert.equal((await enter(server, "eve")).code, 4401);
    assert.equal((await ask(server, "eve")).status, 401);
    assert.deepEqual(new Set(asked), new Set([`127.0.0.1:${server.gateway.port}`]));
    // authorize is not called for a token in `tokens`.
    const { length } = asked;
    await server.client({ token });
    assert.equal(asked.length, length);
  });

  it("may recognise a cookie, so that requests such as those of an EventSource need no token", async () => {
    const authorize = (given: string, request: IncomingMessage): Access | undefined =>
      given === "" && request.headers.cookie === "login=of-ann" ? { scope: "full" } : undefined;
    await using server = await gatewayWith(["Hello."], { tokens: undefined, authorize } as never);
    const { url } = server.gateway;
    const cookie = { cookie: "login=of-ann" };
    const body = JSON.stringify({ sessionKey: "s", message: "Hi", idempotencyKey: "run" });
    const post = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${url}/api/chat`, { method: "POST", body, headers })).status;
    assert.equal(await post(cookie), 202);
    const stream = await fetch(`${url}/api/runs/run/events?sessionKey=s&seq=-1`, {
      headers: cookie,
    });
    assert.equal(stream.status, 200);
    assert.match(await stream.text(), /event: chat\.final/);
    assert.equal(await post({}), 401);
    assert.equal(await post({ cookie: "login=of-eve" }), 401);
    assert.equal(await post({ ...cookie, authorization: "Bearer wrong" }), 401);
    // The browser sends the cookie with requests from foreign pages, too.
    assert.equal(await post({ ...cookie, origin: "http://evil.example" }), 403);
  });

  it("refuses by a throw, a rejection or an invalid access, and reports no details", async () => {
    const secret = "of the database";
    const wrong: Readonly<Record<string, () => unknown>> = {
      throws: () => assert.fail(secret),
      rejects: () => Promise.reject(new Error(secret)),
      yes: () => true,
      admin: () => ({ scope: "admin", secret }),
      nothing: () => null,
      empty: () => ({ scope: "full", sessions: "" }),
      all: () => ({ scope: "full", sessions: null }),
      long: () => ({ scope: "full", sessions: "x".repeat(257) }),
      half: () => ({ scope: "full", sessions: "\ud83d" }),
    };
    const authorize = (given: string): Access | undefined => wrong[given]?.() as Access | undefined;
    await using server = await gatewayWith([], { authorize, limits: { maxAuthFailures: 1000 } });
    const unknown = await enter(server, "unknown");
    const plain = await ask(server, "unknown");
    for (const given of Object.keys(wrong)) {
      assert.deepEqual(await enter(server, given), unknown, given);
      assert.deepEqual(await ask(server, given), plain, given);
    }
    assert.match(unknown.said, /The token is wrong\./);
  });

  it("is not called after too many wrong tokens, however many arrive at once", async () => {
    let asked = 0;
    let answer = (): void => {};
    const all = new Promise<void>((resolve) => (answer = resolve));
    const authorize = async (given: string): Promise<Access | undefined> => {
      if (++asked === 12) answer();
      await all;
      return users[given];
    };
    await using server = await gatewayWith([], { authorize, limits: { maxAuthFailures: 3 } });
    const wrong = Array.from({ length: 12 }, (_, at) => ask(server, `wrong-${at}`));
    const answers = (await Promise.all(wrong)).map(({ status }) => status);
    assert.deepEqual(
      [
        answers.filter((status) => status === 401).length,
        answers.filter((status) => status === 429).length,
      ],
      [3, 9],
    );
    const before = asked;
    assert.equal((await ask(server, "ann")).status, 429);
    assert.equal((await enter(server, "ann")).code, 4429);
    assert.equal(asked, before);
  });

  it("has a time limit and a limit of pending calls, and neither is reported as a wrong token", async () => {
    const never = new Promise<undefined>(() => {});
    const arrived: (() => void)[] = [];
    let calls = 0;
    const bothAsked = new Promise<void>((resolve) => arrived.push(resolve));
    const authorize = (given: string): Access | undefined | Promise<undefined> => {
      if (given !== "slow") return users[given];
      if (++calls === 2) arrived[0]?.();
      return never;
    };
    let running = 0;
    const timers: { readonly ms: number; readonly fire: () => void }[] = [];
    const clock = {
      now: () => Date.now(),
      setTimer(ms: number, fire: () => void) {
        if (ms === 4321) timers.push({ ms, fire });
        const timer = ms === 4321 ? undefined : setTimeout(fire, ms);
        if (ms === 4321) running++;
        return () => {
          if (ms === 4321) running--;
          clearTimeout(timer);
        };
      },
    };
    const limits = { authTimeoutMs: 4321, maxStrangers: 2, maxAuthFailures: 1 };
    await using server = await gatewayWith([], { authorize, clock, limits });
    const slow = [ask(server, "slow"), ask(server, "slow")];
    await bothAsked;
    const third = await ask(server, "ann");
    assert.equal(third.status, 429);
    assert.match(third.text, /Too many connections are waiting for authentication\./);
    for (const { fire } of timers) fire();
    for (const { status, text } of await Promise.all(slow)) {
      assert.equal(status, 429);
      assert.match(text, /could not be told in time/);
    }
    assert.equal((await ask(server, "ann")).status, 404);
    assert.equal(running, 0, "every time limit is stopped by the answer");
  });

  it("redacts tokens in everything that is sent", async () => {
    const given = "ann-has-a-secret-of-her-own";
    const authorize = (one: string): Access | undefined =>
      one === given ? { scope: "full" } : undefined;
    const full = "one-for-everybody-1234";
    await using server = await gatewayWith([`It is ${full}.`], { authorize, tokens: { full } });
    for (const { said } of [await enter(server, `${given}-wrong`), await enter(server, given)])
      assert.ok(!said.includes(given), said);
    assert.ok(!(await ask(server, `${given}-wrong`)).text.includes(given));
    const client = await server.client({ token: given });
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "Hi" });
    await client.end(runId);
    // The token in `tokens` is known in advance, and so is redacted in model output, too.
    await client.call("chat.history", { sessionKey: "s" });
    assert.ok(client.text(runId).startsWith("It is "));
    const said = client.text(runId) + JSON.stringify(client.frames);
    for (const secret of [given, full]) assert.ok(!said.includes(secret), secret);
  });
});
