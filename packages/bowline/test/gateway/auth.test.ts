import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import type { Access } from "../../src/gateway/access/access.ts";
import { startGateway } from "../../src/gateway/server/server.ts";
import type { AuthReply } from "../../src/gateway/protocol/frame.ts";
import type { GatewayLimits } from "../../src/gateway/protocol/limits.ts";
import { methods } from "../../src/gateway/protocol/schema.ts";
import {
  agents,
  closed,
  gatewayWith,
  token,
  wait,
  type AnyFrame,
  type TestGateway,
} from "./gateway.ts";
import { within } from "../../../../test/support/within.ts";

/** Sends these first frames, and returns the answer, if any, and the close code. */
async function knock(
  server: TestGateway,
  ...frames: (string | Buffer)[]
): Promise<{ reply?: AuthReply; code: number }> {
  const socket = server.socket();
  const end = closed(socket);
  const replies: string[] = [];
  socket.on("message", (data: Buffer) => replies.push(data.toString()));
  await once(socket, "open");
  for (const frame of frames) socket.send(frame);
  const code = await end;
  return replies[0] === undefined ? { code } : { reply: JSON.parse(replies[0]) as AuthReply, code };
}

const auth = (value: unknown): string => JSON.stringify({ type: "auth", token: value });

describe("the first frame", () => {
  // Requirements: J36, J39
  it("with a valid token is answered with what the server can do", async () => {
    await using server = await gatewayWith([]);
    const { welcome } = await server.client();
    assert.equal(welcome.type, "auth");
    assert.deepEqual(welcome.methods, Object.keys(methods));
    assert.equal(welcome.limits.maxFrameBytes, 1024 * 1024);
    assert.deepEqual(welcome.model, {
      agentId: "assistant",
      wanted: "scripted/scripted",
      provider: "scripted",
      model: "scripted",
      isPractice: false,
    });
    assert.equal(JSON.stringify(welcome).includes(token), false);
  });

  it("reports the default limits where a limit is given as undefined", async () => {
    const limits = {
      maxConnections: undefined,
      maxFrameBytes: undefined,
    } as unknown as Partial<GatewayLimits>;
    await using server = await gatewayWith([], { limits });
    const { welcome } = await server.client();
    assert.equal(welcome.limits.maxFrameBytes, 1024 * 1024);
  });

  it("with a wrong token, or of any other kind, closes with 4401", async () => {
    await using server = await gatewayWith([]);
    const frames = [
      auth("wrong"),
      auth(""),
      auth(5),
      auth(`${token}x`),
      "no json",
      "[]",
      "null",
      '{"type":"auth"}',
    ];
    for (const frame of [
      ...frames,
      '{"id":1,"method":"health.check"}',
      '{"type":"auth","token":"x","events":5}',
    ]) {
      const { reply, code } = await knock(server, frame);
      assert.deepEqual([reply?.ok, code], [false, 4401], frame);
    }
  });

  it("must come in time", async () => {
    await using server = await gatewayWith([], { limits: { authTimeoutMs: 1000 } });
    assert.equal(await closed(server.socket()), 4408);
  });

  it("must be small", async () => {
    await using server = await gatewayWith([]);
    assert.equal((await knock(server, auth("x".repeat(65 * 1024)))).code, 1009);
    assert.equal((await knock(server, auth("x".repeat(2 * 1024 * 1024)))).code, 1009);
  });

  it("may have as many bytes as the limit, and no more", async () => {
    const wide = "ä".repeat(20);
    const authorize = (given: string): Access | undefined =>
      given === wide ? { scope: "full" } : undefined;
    for (const most of [100, 1000, 64 * 1024]) {
      await using server = await gatewayWith([], {
        authorize,
        limits: { maxAuthFrameBytes: most },
      });
      const frame = auth(wide);
      const padded = (bytes: number): string =>
        frame + " ".repeat(bytes - Buffer.byteLength(frame));
      const socket = server.socket();
      await once(socket, "open");
      const reply = Promise.race([once(socket, "message"), closed(socket)]);
      socket.send(padded(most));
      assert.notEqual(await within("it is answered", reply), 1009, `${most} bytes`);
      socket.terminate();
      assert.equal((await knock(server, padded(most + 1))).code, 1009, `${most + 1} bytes`);
    }
  });

  it("is the only one with that limit", async () => {
    await using server = await gatewayWith([], { limits: { maxAuthFrameBytes: 1000 } });
    const client = await server.client();
    for (const title of ["x".repeat(2000), "y".repeat(3000)])
      assert.equal(
        await client.refused("sessions.create", { title, sessionKey: "s" }),
        "bad_params",
      );
    await client.call("health.check", {});
  });

  it("may be sent only once", async () => {
    await using server = await gatewayWith([]);
    assert.equal((await knock(server, auth(token), auth(token))).code, 4409);
    const client = await server.client();
    const end = closed(client.socket);
    client.socket.send(auth(token));
    assert.equal(await end, 4409);
  });

  it("may be followed by requests at once, which are answered in order after authentication", async () => {
    const asked = Promise.withResolvers<Access>();
    await using server = await gatewayWith(["Hello."], { authorize: () => asked.promise });
    const socket = server.socket();
    const frames: AnyFrame[] = [];
    const ended = new Promise<void>((resolve) =>
      socket.on("message", (data: Buffer) => {
        const frame = JSON.parse(data.toString()) as AnyFrame;
        frames.push(frame);
        if (frame.event === "chat.final") resolve();
      }),
    );
    await once(socket, "open");
    socket.send(auth("of a user"));
    const message = { sessionKey: "s", message: "Hi", idempotencyKey: "run" };
    socket.send(JSON.stringify({ id: 1, method: "chat.send", params: message }));
    socket.send(JSON.stringify({ id: 2, method: "health.check" }));
    socket.ping();
    await once(socket, "pong"); // all frames have arrived
    assert.equal(frames.length, 0);
    asked.resolve({ scope: "full" });
    await within("the run ends", ended);
    assert.equal(frames.at(-1)?.event, "chat.final");
    assert.equal((frames[0] as unknown as { ok?: boolean }).ok, true);
    const answers = frames.filter(({ id }) => id !== undefined).map(({ id }) => id);
    assert.deepEqual(new Set(answers), new Set([1, 2]));
    assert.equal(server.model.calls.length, 1);
    socket.terminate();
  });

  it("may be followed by limited data only, and requests after a refused one are dropped", async () => {
    const asked = Promise.withResolvers<undefined>();
    await using server = await gatewayWith(["Never."], { authorize: () => asked.promise });
    const message = { sessionKey: "s", message: "Hi" };
    const request = JSON.stringify({ id: 1, method: "chat.send", params: message });
    const many = await knock(server, auth("x"), ...Array.from({ length: 65 }, () => request));
    assert.equal(many.code, 4409);
    const large = await knock(server, auth("x"), request, "x".repeat(64 * 1024));
    assert.equal(large.code, 1009);
    asked.resolve(undefined);
    const { code } = await knock(server, auth("x"), request, request);
    assert.equal(code, 4401);
    assert.equal(server.model.calls.length, 0);
  });

  it("must be text", async () => {
    await using server = await gatewayWith([]);
    assert.equal((await knock(server, Buffer.from(auth(token)))).code, 1003);
  });

  it("is refused for a while after too many wrong tokens", async () => {
    let now = 1_000_000;
    const clock = {
      now: () => now,
      setTimer(ms: number, fire: () => void) {
        const timer = setTimeout(fire, ms);
        return () => clearTimeout(timer);
      },
    };
    await using server = await gatewayWith([], { limits: { maxAuthFailures: 3 }, clock });
    for (let count = 0; count < 3; count++)
      assert.equal((await knock(server, auth("wrong"))).code, 4401);
    const { reply, code } = await knock(server, auth(token));
    assert.equal(code, 4429);
    assert.ok(
      reply?.ok === false && reply.error.data?.retryAfterMs === 60_000,
      JSON.stringify(reply),
    );
    now += 60_001;
    await server.client();
    for (let count = 0; count < 3; count++)
      assert.equal((await knock(server, auth("wrong"))).code, 4401);
    assert.equal((await knock(server, auth(token))).code, 4429);
    now -= 3_600_000; // the clock was set back: the lockout must not last an hour
    await server.client();
  });
});

describe("an invalid first frame", () => {
  it("is answered with the valid form", async () => {
    await using server = await gatewayWith([]);
    const { reply } = await knock(
      server,
      JSON.stringify({ type: "auth", token, events: "chat.delta" }),
    );
    assert.ok(reply?.ok === false);
    assert.match(
      reply.error.message,
      /\{"type":"auth","token":"…"\}.*"events" \("all" or a list of names\)/,
    );
  });
});

describe("a read token", () => {
  it("can read everything and change nothing", async () => {
    await using server = await gatewayWith(["Hi."]);
    const writer = await server.client();
    const reader = await server.client({ token: "for-reading-only" });
    assert.equal(reader.welcome.scope, "read");
    await reader.call("chat.subscribe", { sessionKey: "s" });
    const { runId } = await writer.call("chat.send", { sessionKey: "s", message: "Hi" });
    await reader.end(runId);
    assert.equal((await reader.call("chat.history", { sessionKey: "s" })).messages.length, 2);
    const params = {
      sessionKey: "s",
      message: "Hi",
      title: "x",
      approvalId: "x",
      decision: "deny",
    };
    for (const [method, { access, params: schema }] of Object.entries(methods)) {
      if (access === "read") continue;
      const names = Object.keys(schema.properties as object);
      const own = Object.fromEntries(
        Object.entries(params).filter(([name]) => names.includes(name)),
      );
      assert.equal(await reader.refused(method as "chat.send", own), "forbidden", method);
    }
  });
});

describe("the upgrade", () => {
  it("is accepted from this server's pages and from programs, and refused for other pages", async () => {
    await using server = await gatewayWith([]);
    const { port } = server.gateway;
    const status = async (headers: Record<string, string>): Promise<string> => {
      const socket = server.socket(headers);
      const failed = new Promise<string>((resolve) =>
        socket.once("error", ({ message }) => resolve(message)),
      );
      const result = await Promise.race([once(socket, "open").then(() => "open"), failed]);
      socket.terminate();
      return result;
    };
    assert.equal(await status({}), "open");
    assert.equal(await status({ origin: `http://127.0.0.1:${port}` }), "open");
    for (const origin of ["http://evil.example", `http://127.0.0.1:${port + 1}`, "null", "file://"])
      assert.match(await status({ origin }), /403/, origin);
    // A host name that an attacker made resolve to this address.
    const host = `evil.example:${port}`;
    assert.match(await status({ host, origin: `http://${host}` }), /403/);
  });

  it("is refused with the reason", async () => {
    await using server = await gatewayWith([], { limits: { maxConnections: 1 } });
    const { port } = server.gateway;
    const said = async (headers: Record<string, string>): Promise<string> => {
      const socket = connect(port, "127.0.0.1");
      const lines = {
        host: `127.0.0.1:${port}`,
        upgrade: "websocket",
        connection: "upgrade",
        ...headers,
      };
      const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`GET / HTTP/1.1\r\n${head.join("")}\r\n`);
      let text = "";
      for await (const chunk of socket) text += String(chunk);
      return text;
    };
    assert.match(
      await said({ origin: "http://evil.example" }),
      /^HTTP\/1\.1 403 [^]*\r\n\r\nPages of "http:\/\/evil\.example" may not connect\. Only pages .* from "127\.0\.0\.1:\d+" may\.$/,
    );
    assert.match(
      await said({ host: "evil.example" }),
      /\r\n\r\nThis server answers requests to localhost .* not to "evil\.example"\. For other names, start it with --expose \(exposed: true\)\.$/,
    );
    await server.client();
    assert.match(await said({}), /^HTTP\/1\.1 503 [^]*\r\n\r\nToo many are connected\.$/);
  });

  it("is refused when there are too many connections, or too many without authentication", async () => {
    await using server = await gatewayWith([], { limits: { maxConnections: 2, maxStrangers: 1 } });
    await server.client();
    const stranger = server.socket();
    await once(stranger, "open");
    const another = server.socket();
    try {
      const [error] = await within(
        "another is refused",
        once(another, "error") as Promise<[Error]>,
      );
      assert.match(error.message, /503/);
    } finally {
      another.terminate();
      stranger.terminate();
    }
  });

  it("counts until its socket is closed, not only until it was told to close", async () => {
    await using server = await gatewayWith([], {
      limits: { maxConnections: 1, closeGraceMs: 300 },
    });
    const { socket } = await server.client();
    socket.send(JSON.stringify({ type: "auth", token }));
    socket.pause(); // it does not see the close frame
    await wait(100);
    const second = server.socket();
    const outcome = await new Promise<string>((resolve) => {
      second.once("open", () => resolve("let in"));
      second.once("error", ({ message }) => resolve(message));
    });
    second.terminate();
    assert.match(outcome, /503/);
    // New connections are refused until the first socket's grace period is over.
    const enter = (): Promise<boolean> =>
      server.client().then(
        () => true,
        () => false,
      );
    let isIn = false;
    for (let left = 1000; left > 0 && !isIn; left--) isIn = await wait(20).then(enter);
    assert.ok(isIn);
  });

  it("survives bytes that are neither HTTP nor WebSocket", async () => {
    await using server = await gatewayWith([]);
    const { port } = server.gateway;
    for (const bytes of [
      "\0\0\0\0\r\n\r\n",
      "GET / HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
    ]) {
      const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
      await within("the server closes the connection", once(socket.resume(), "close"));
    }
    await server.client();
  });
});

describe("the listening address", () => {
  const options = {
    tokens: { full: token },
    agents: () => agents,
    backendFor: () => Promise.reject(new Error("not asked")),
    systemPrompt: () => "",
    workspacePath: "/",
    port: 0,
  };

  it("is local unless exposed is set", async () => {
    await using server = await gatewayWith([]);
    assert.equal(server.gateway.host, "127.0.0.1");
    const given = { ...options, store: server.store, host: "0.0.0.0" };
    await assert.rejects(startGateway(given), /other machines/);
    const gateway = await startGateway({ ...given, exposed: true });
    await gateway.close();
  });

  it("accepts any host name behind a proxy when exposed, and only pages of that name", async () => {
    await using server = await gatewayWith([], { exposed: true });
    assert.equal(server.gateway.host, "127.0.0.1");
    for (const [origin, expected] of [
      ["https://chat.example", "open"],
      ["https://evil.example", "Unexpected server response: 403"],
    ] as const) {
      const socket = server.socket({ host: "chat.example", origin });
      const failed = new Promise<string>((resolve) =>
        socket.once("error", ({ message }) => resolve(message)),
      );
      assert.equal(await Promise.race([once(socket, "open").then(() => "open"), failed]), expected);
      socket.terminate();
    }
  });

  it("requires a token", async () => {
    await using server = await gatewayWith([]);
    await assert.rejects(
      startGateway({ ...options, store: server.store, tokens: { full: "" } }),
      /empty/,
    );
  });
});

describe("a response over HTTP", () => {
  it("is not cached, and its type is not sniffed", async () => {
    await using server = await gatewayWith(["Hello."]);
    const bearer = { authorization: `Bearer ${token}` };
    const { url } = server.gateway;
    const message = JSON.stringify({ sessionKey: "s", message: "Hi", idempotencyKey: "run" });
    const answers = [
      await fetch(`${url}/health`),
      await fetch(`${url}/api/chat`, { method: "POST", headers: bearer, body: message }),
      await fetch(`${url}/api/runs/run/events?sessionKey=s`, { headers: bearer }),
      await fetch(`${url}/api/chat`, { method: "POST", body: message }), // 401
      await fetch(`${url}/api/none`),
      await fetch(`${url}/none`),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 202, 200, 401, 404, 404],
    );
    for (const { url: at, headers, body } of answers) {
      assert.equal(headers.get("x-content-type-options"), "nosniff", at);
      assert.equal(headers.get("cache-control"), "no-store", at);
      await body?.cancel();
    }
  });
});

describe("health", () => {
  it("is available without a token over HTTP and with one over the socket, and nothing else is public", async () => {
    await using server = await gatewayWith([]);
    const health = (await (await fetch(`${server.gateway.url}/health`)).json()) as {
      status: string;
    };
    assert.equal(health.status, "ok");
    assert.equal((await fetch(`${server.gateway.url}/other`)).status, 404);
    const client = await server.client();
    assert.equal((await client.call("health.check", {})).connections, 1);
  });
});
