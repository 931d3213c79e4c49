/** Remote servers of the oldest form: one stream of events, and a POST for each message. */
import assert from "node:assert/strict";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { call, connect } from "./support.ts";

/** Echoes; with `cut` it ends the stream instead of the answer, once. */
async function serveSse(): Promise<{ readonly server: Server; readonly url: string }> {
  let stream: ServerResponse | undefined;
  let left = 1;
  const send = (event: string, data: unknown): unknown =>
    stream?.write(
      `event: ${event}\ndata: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`,
    );
  const results = {
    initialize: {
      protocolVersion: "2024-11-05",
      capabilities: { tools: {} },
      serverInfo: { name: "sse", version: "1" },
    },
    "tools/list": {
      tools: ["echo", "cut"].map((name) => ({ name, inputSchema: { type: "object" } })),
    },
    "tools/call": { content: [{ type: "text", text: "here" }] },
  };
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      stream = response.writeHead(200, { "content-type": "text/event-stream" });
      send("endpoint", "/messages");
      return;
    }
    if (request.url !== "/messages") return void response.writeHead(405).end();
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const { id, method, params } = JSON.parse(body);
      response.writeHead(202).end();
      if (params?.name === "cut" && left-- > 0) stream?.destroy();
      else if (id !== undefined)
        send("message", { jsonrpc: "2.0", id, result: results[method as keyof typeof results] });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse` };
}

describe("a server that has server-sent events only", () => {
  for (const type of ["sse", undefined] as const) {
    it(`is found by its entry ${type === undefined ? "without a type" : "of the type sse"}`, async () => {
      const { server, url } = await serveSse();
      await using connected = await connect({ servers: { s: { url, type } } });
      assert.deepEqual(
        connected.mcp.servers.map(({ status, protocolVersion }) => [status, protocolVersion]),
        [["ready", "2024-11-05"]],
      );
      assert.equal((await call(connected.mcp, "s__echo")).text, "here");
      server.closeAllConnections();
      server.close();
    });
  }

  it("fails open calls as unknown when its stream ends, and is connected again", async () => {
    const { server, url } = await serveSse();
    await using connected = await connect({ servers: { s: { url, type: "sse" } } });
    const result = await call(connected.mcp, "s__cut");
    assert.ok(result.isError);
    assert.match(result.text, /It is unknown whether it took effect/);
    assert.equal((await call(connected.mcp, "s__echo")).text, "here");
    server.closeAllConnections();
    server.close();
  });
});
