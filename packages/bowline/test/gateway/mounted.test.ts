/** A gateway mounted in another HTTP server. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { get, request as requestOf } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { WebSocket } from "ws";
import { scriptedToolCall } from "@bowline/core/testing";
import { GatewayClient } from "../../src/gateway/client/client.ts";
import { createGateway, createPage } from "../../src/gateway.ts";
import { within } from "../../../../test/support/within.ts";
import { RawHttp } from "../fuzz/raw-http.ts";
import { heldTool } from "../held-tool.ts";
import { agents, closed, token } from "./gateway.ts";
import { mounted } from "./mounted.ts";

const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

function socketTo(url: string, own: Record<string, string> = {}): Promise<string> {
  const socket = new WebSocket(url.replace("http", "ws"), { headers: own });
  const failed = new Promise<string>((resolve) =>
    socket.once("error", ({ message }) => resolve(message)),
  );
  return Promise.race([once(socket, "open").then(() => "open"), failed]).finally(() =>
    socket.terminate(),
  );
}

const begin = (url: string, body: object): Promise<Response> =>
  fetch(`${url}/api/chat`, { method: "POST", headers, body: JSON.stringify(body) });

describe("a gateway mounted in another HTTP server", () => {
  it("answers over sockets and HTTP below its path, and returns event addresses with that path", async () => {
    await using server = await mounted(["Hello.", "Hello again."]);
    const client = new GatewayClient({ url: server.url, token, WebSocket });
    const run = await client.send({ sessionKey: "s", message: "Hi" });
    assert.equal((await run.result()).text, "Hello.");
    client.close();
    const begun = await begin(server.url, { sessionKey: "s", message: "Hi" });
    assert.equal(begun.status, 202);
    const { events } = (await begun.json()) as { events: string };
    assert.match(events, /^\/agents\/api\/runs\/[\w-]+\/events\?sessionKey=s$/);
    const told = await fetch(new URL(`${events}&seq=-1`, begun.url), { headers });
    assert.match(await told.text(), /event: chat\.final\n/);
    assert.equal((await fetch(`${server.url}/health`)).status, 200);
    assert.equal((await fetch(`${server.url}/nothing`)).status, 404);
    assert.deepEqual(server.own, []);
  });

  it("leaves requests and upgrades outside its path alone", async () => {
    await using server = await mounted([], { page: createPage() });
    const others = [
      "/",
      "/agent",
      "/agentsmith",
      "/agents%2F",
      "/Agents/",
      "/other/agents/",
      "//agents/",
      "/?/agents/",
    ];
    for (const path of others) {
      const raw = await RawHttp.open(Number(new URL(server.origin).port));
      raw.ask("GET", Buffer.from(`GET ${path} HTTP/1.1\r\nhost: anything.example\r\n\r\n`));
      await raw.until(1);
      assert.equal(raw.answers[0]?.body, "the program's", path);
      raw.socket.destroy();
      assert.match(await socketTo(`${server.origin}${path}`), /418/, path);
    }
    assert.deepEqual(
      server.own,
      others.flatMap((path) => [path, path]),
    );
  });

  it("is found with and without a trailing slash, with a query, and by an absolute URL", async () => {
    await using server = await mounted([], { page: createPage() });
    const { port } = new URL(server.origin);
    for (const path of ["/agents", "/agents/", "/agents?x", "/agents/any/where"])
      assert.equal(await socketTo(`${server.origin}${path}`), "open", path);
    const to = async (path: string): Promise<[number, string | null]> => {
      const { status, headers: got } = await fetch(`${server.origin}${path}`, {
        redirect: "manual",
      });
      return [status, got.get("location")];
    };
    assert.deepEqual(await to("/agents"), [308, "agents/"]);
    assert.deepEqual(await to("/agents?x=1"), [308, "agents/?x=1"]);
    assert.deepEqual(await to("/agents/"), [200, null]);
    const whole = requestOf({ port, path: `http://127.0.0.1:${port}/agents/health` }).end();
    const [{ statusCode }] = (await once(whole, "response")) as [{ statusCode: number }];
    assert.equal(statusCode, 200);
    assert.deepEqual(server.own, []);
  });

  it("refuses the same clients as on a separate port", async () => {
    await using server = await mounted([], {
      limits: { maxConnections: 2, maxStrangers: 1, maxAuthFailures: 2 },
    });
    const evil = { origin: "http://evil.example" };
    assert.match(await socketTo(server.url, evil), /403/);
    assert.match(await socketTo(server.url, { host: "evil.example" }), /403/);
    assert.equal((await fetch(`${server.url}/health`, { headers: evil })).status, 403);
    const asked = get({
      port: new URL(server.origin).port,
      path: "/agents/health",
      headers: { host: "evil.example" },
    });
    const [{ statusCode }] = (await once(asked, "response")) as [{ statusCode: number }];
    assert.equal(statusCode, 403);
    await server.client();
    const stranger = new WebSocket(server.url.replace("http", "ws"));
    await once(stranger, "open");
    assert.match(await socketTo(server.url), /503/);
    stranger.terminate();
    const wrong = { authorization: "Bearer wrong" };
    const ask = (own: Record<string, string>): Promise<number> =>
      fetch(`${server.url}/api/runs/x/events`, { headers: own }).then(({ status }) => status);
    assert.deepEqual([await ask(wrong), await ask(wrong), await ask(headers)], [401, 401, 429]);
    assert.match(await socketTo(`${server.origin}/other`), /418/);
  });

  it("closes its connections and leaves the server and the program's connections open", async () => {
    await using server = await mounted(["word ".repeat(500)], { pace: { delayMs: 5 } });
    const { port } = new URL(server.origin);
    const programs = await RawHttp.open(Number(port));
    const client = await server.client();
    const { events } = (await (
      await begin(server.url, { sessionKey: "s", message: "Hi" })
    ).json()) as {
      events: string;
    };
    const reader = await fetch(`${server.origin}${events}`, { headers });
    const gone = closed(client.socket);
    await server.gateway.close();
    assert.equal(await gone, 1001);
    assert.match(
      await reader.text(),
      /event: shutdown\ndata: \{"reason":"the server was stopped"\}\n\n$/,
    );
    programs.ask("GET", Buffer.from("GET /its HTTP/1.1\r\nhost: localhost\r\n\r\n"));
    await programs.until(1);
    assert.equal(programs.answers[0]?.body, "the program's");
    programs.socket.destroy();
    assert.ok(server.server.listening);
    // After closing, the path still belongs to the gateway, which refuses requests.
    assert.match(await socketTo(server.url), /503/);
    assert.equal((await begin(server.url, { sessionKey: "s", message: "Hi" })).status, 429);
    assert.equal((await fetch(`${server.url}/health`)).status, 429);
    assert.deepEqual(server.own, ["/its"]);
  });

  it("closes without waiting for connections on which it has answered", async () => {
    await using server = await mounted([], { limits: { closeGraceMs: 4000 } });
    const raw = await RawHttp.open(Number(new URL(server.origin).port));
    raw.ask("GET", Buffer.from("GET /agents/health HTTP/1.1\r\nhost: localhost\r\n\r\n"));
    await raw.until(1);
    try {
      await within("the gateway is closed", server.gateway.close(), 2000);
      assert.equal(raw.socket.destroyed, false);
    } finally {
      raw.socket.destroy();
    }
  });

  it("cuts off a client that does not read when it closes, also one with pipelined requests", async () => {
    await using server = await mounted(["x".repeat(16 * 1024 * 1024)], {
      limits: { closeGraceMs: 100, maxBufferedBytes: 64 * 1024 * 1024 },
      pace: { deltaLength: 1024 * 1024 },
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const taken = once(server.server, "connection") as Promise<[Socket]>;
    const raw = connect(Number(new URL(server.origin).port), "127.0.0.1").on("error", () => {});
    const [socket] = await taken;
    const auth = `host: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`;
    raw.write(Buffer.from(`GET /agents/api/runs/${runId}/events?seq=-1 HTTP/1.1\r\n${auth}`));
    raw.write(Buffer.from("GET /agents/health HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(3)));
    raw.pause();
    await client.end(runId);
    await server.gateway.close();
    assert.ok(socket.destroyed);
    raw.destroy();
    assert.ok(server.server.listening);
  });

  it("resumes what the previous gateway on the server had begun", async () => {
    const { tool } = heldTool();
    await using first = await mounted([{ content: [scriptedToolCall("wait", {}, "w")] }, "Done."], {
      tools: () => [tool],
      rules: { judge: () => ({ action: "allow" }), add: async () => {} },
    });
    const client = await first.client();
    await client.call("chat.send", { sessionKey: "s", message: "go", idempotencyKey: "run" });
    await client.event("chat.tool_call", "run");
    await first.gateway.close();
    await using second = await mounted(["Gone on."], { store: first.store });
    const other = await second.client();
    assert.equal((await other.call("chat.history", { sessionKey: "s" })).messages[0]?.runId, "run");
  });

  it("takes all paths of the server without a path option", async () => {
    await using server = await mounted(["Hello."], { path: "" });
    const begun = await begin(server.url, { sessionKey: "s", message: "Hi" });
    assert.match(((await begun.json()) as { events: string }).events, /^\/api\/runs\//);
    assert.equal(await socketTo(`${server.url}/any`), "open");
    assert.deepEqual(server.own, []);
  });

  it("rejects an invalid path, and options without any way to authenticate", async () => {
    await using server = await mounted([]);
    const { store } = server;
    const backendFor = (): never => assert.fail("not asked");
    const given = {
      store,
      agents: () => agents,
      backendFor,
      systemPrompt: () => "",
      workspacePath: "/",
    };
    for (const path of ["agents", "//evil.example", "/a?b", "/a#b", "/a b"])
      await assert.rejects(
        createGateway({ ...given, tokens: { full: token }, path }),
        /path must be like "\/agents", not/,
      );
    await assert.rejects(
      createGateway(given),
      /No client could connect\. Pass token, tokens or authorize\./,
    );
    await assert.rejects(createGateway({ ...given, tokens: { full: "" } }), /must not be empty/);
    await (await createGateway({ ...given, tokens: { full: token }, path: "/a/b-c/" })).close();
  });
});
