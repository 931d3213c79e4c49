/** Remote servers: both forms of the protocol, and servers that misbehave. */
import assert from "node:assert/strict";
import { createServer as createNodeServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { getRequestListener } from "@hono/node-server";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { json, serveHttp, type Call } from "./servers/http.ts";
import { createServer } from "./servers/modern.ts";
import { call, connect } from "./support.ts";
import { until } from "../../../test/support/until.ts";

const text = (value: string): object => ({ content: [{ type: "text", text: value }] });
const echo: Call = (response, request) => json(response, request, text("here"));

/** Serves both forms of the protocol by the makers' own library. */
function modernServer(): Server {
  const handler = createMcpHandler(createServer);
  const answer = getRequestListener((request) => handler.fetch(request));
  return createNodeServer((request, response) => void answer(request, response));
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

describe("a server of the newest protocol", () => {
  const reaches = ["http", "stdio"] as const;
  for (const reach of reaches) {
    it(`is spoken to in it, over ${reach}, and may ask what a hook answers`, async () => {
      const server = modernServer();
      const file = join(import.meta.dirname, "servers/modern.ts");
      const entry =
        reach === "http"
          ? { url: await listen(server) }
          : { command: process.execPath, args: [file] };
      const asked: unknown[] = [];
      await using connected = await connect({
        servers: { s: entry, quiet: entry },
        elicit: async (request, { server: name }) => {
          asked.push([name, request.message]);
          return { action: "accept", content: { sure: true } };
        },
      });
      const { mcp } = connected;
      assert.deepEqual(
        mcp.servers.map(({ status, protocolVersion }) => [status, protocolVersion]),
        [
          ["ready", "2026-07-28"],
          ["ready", "2026-07-28"],
        ],
      );
      assert.equal((await call(mcp, "s__echo", { text: "hello" })).text, "hello");
      assert.equal((await call(mcp, "s__ask")).text, "sure: true");
      assert.deepEqual(asked, [["s", "Sure?"]]);
      if (reach === "stdio") {
        await call(mcp, "s__add");
        await until(() => mcp.tools.some(({ name }) => name === "s__added"));
      }
      server.closeAllConnections();
      server.close();
    });
  }

  it("is refused what no hook answers", async () => {
    const server = modernServer();
    await using connected = await connect({ servers: { s: { url: await listen(server) } } });
    const result = await call(connected.mcp, "s__ask");
    assert.ok(result.isError);
    assert.match(result.text, /elicit/i);
    server.closeAllConnections();
    server.close();
  });
});

describe("a remote server", () => {
  it("gets the entry's headers with each request, which no message shows", async () => {
    const seen: unknown[] = [];
    await using server = await serveHttp({
      fails: (response, _, { headers }) => {
        seen.push(headers["x-api-key"]);
        response.writeHead(500).end(`bad key ${String(headers["x-api-key"])}`);
      },
    });
    await using connected = await connect({
      servers: { s: { url: server.url, headers: { "X-API-Key": "${KEY}" } } },
      env: { KEY: "key-1234567890" },
    });
    const result = await call(connected.mcp, "s__fails");
    assert.deepEqual(seen, ["key-1234567890"]);
    assert.ok(result.isError);
    assert.match(result.text, /bad key \[redacted\]/);
    assert.doesNotMatch(JSON.stringify([connected.events, connected.mcp.servers]), /key-12345/);
  });

  it("is not followed to another origin", async () => {
    let reached = 0;
    const other = createNodeServer((_, response) => {
      reached += 1;
      response.end();
    });
    const location = await listen(other);
    await using server = await serveHttp({
      moves: (response) => response.writeHead(307, { location }).end(),
    });
    await using connected = await connect({ servers: { s: { url: server.url } } });
    assert.ok((await call(connected.mcp, "s__moves")).isError);
    assert.equal(reached, 0);
    other.close();
  });

  const cuts: Record<string, Call> = {
    "cuts its stream": (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": wait\n\n");
      setTimeout(() => response.destroy(), 20);
    },
    "ends its stream": (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(": nothing\n\n");
    },
    "cuts its answer": (response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"jsonrpc":');
      setTimeout(() => response.destroy(), 20);
    },
    "hangs up": (response) => response.destroy(),
    "sends a page": (response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<h1>Sign in</h1>");
    },
    "sends too much": (response, request) => json(response, request, text("x".repeat(2_000_000))),
    "sends too much at once": (response, { id }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(
        `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: text("x".repeat(2_000_000)) })}\n\n`,
      );
    },
    "never answers": () => {},
  };
  for (const [name, misbehave] of Object.entries(cuts)) {
    it(`that ${name} fails the call as unknown, and no call is repeated`, async () => {
      await using server = await serveHttp({ bad: misbehave, echo });
      await using connected = await connect({
        servers: { s: { url: server.url } },
        limits: { messageBytes: 1_000_000, callMs: 2_000 },
      });
      const { mcp } = connected;
      const result = await call(mcp, "s__bad");
      assert.ok(result.isError);
      assert.match(result.text, /It is unknown whether it took effect/);
      // Only a server that says nothing is waited for.
      assert.equal(result.text.includes("took longer"), name === "never answers");
      assert.equal((await call(mcp, "s__echo")).text, "here");
      const calls = server.methods.filter((method) => method === "tools/call");
      assert.equal(calls.length, 2);
    });
  }

  it("may send much in many events", async () => {
    await using server = await serveHttp({
      many: (response, { id }) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const note = {
          jsonrpc: "2.0",
          method: "notifications/message",
          params: { level: "info", data: "x".repeat(100_000) },
        };
        for (let left = 30; left > 0; left--) response.write(`data: ${JSON.stringify(note)}\n\n`);
        response.end(
          `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: text("all") })}\r\n\r\n`,
        );
      },
    });
    await using connected = await connect({
      servers: { s: { url: server.url } },
      limits: { messageBytes: 1_000_000 },
    });
    assert.equal((await call(connected.mcp, "s__many")).text, "all");
  });

  it("that forgot the session is connected again", async () => {
    await using server = await serveHttp({ echo });
    await using connected = await connect({ servers: { s: { url: server.url } } });
    const { mcp, events } = connected;
    server.sessions.clear();
    assert.ok((await call(mcp, "s__echo")).isError);
    assert.equal((await call(mcp, "s__echo")).text, "here");
    assert.deepEqual(
      events.map(({ type }) => type),
      ["server_ready", "server_lost", "server_ready"],
    );
  });

  it("that wants an authorization is named so", async () => {
    const server = createNodeServer((_, response) => response.writeHead(401).end());
    await using connected = await connect({ servers: { s: { url: await listen(server) } } });
    const [state] = connected.mcp.servers;
    assert.deepEqual(
      [state?.status, state?.error?.code],
      ["unauthorized", "authentication_failed"],
    );
    server.close();
  });

  it("gets the token of the hook", async () => {
    const seen = new Set<unknown>();
    await using server = await serveHttp({
      echo: (response, request, { headers }) => {
        seen.add(headers.authorization);
        echo(response, request, undefined as never);
      },
    });
    await using connected = await connect({
      servers: { s: { url: server.url } },
      auth: (name) => ({ token: async () => `token-of-${name}` }),
    });
    assert.equal((await call(connected.mcp, "s__echo")).text, "here");
    assert.deepEqual([...seen], ["Bearer token-of-s"]);
  });
});
