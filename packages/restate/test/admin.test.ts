/** What the admin client does when Restate is a moment further than its list. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { createRestateAdmin } from "../src/index.ts";

/** A server whose invocation has ended when it is to be killed, with this status. */
async function forgetting(killStatus: number): Promise<readonly string[]> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { method = "", url = "" } = request;
    asked.push(`${method} ${url}`);
    request.resume();
    const rows = url === "/query" ? [{ id: "inv_1", status: "running" }] : [];
    const status = url.endsWith("/kill") ? killStatus : 200;
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ rows, message: "was already completed" }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await createRestateAdmin({ ingress: url, admin: url }).forget("s");
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return asked.slice(1);
}

describe("forget", () => {
  it("purges an invocation that ended by itself before it could be killed", async () => {
    for (const status of [404, 409])
      assert.deepEqual(await forgetting(status), [
        "PATCH /invocations/inv_1/kill",
        "PATCH /invocations/inv_1/purge",
        "POST /services/bowline/state",
      ]);
    await assert.rejects(forgetting(403), { code: "permission_denied" });
  });
});

describe("idleSessions", () => {
  it("returns the sessions without an invocation, and asks once for all", async () => {
    const queries: string[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk));
      request.on("end", () => {
        queries.push((JSON.parse(body) as { query: string }).query);
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ rows: [{ target_service_key: "b'" }] }));
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const admin = createRestateAdmin({ ingress: url, admin: url });
      assert.deepEqual(await admin.idleSessions(["a", "b'", "c"]), ["a", "c"]);
      assert.equal(queries.length, 1);
      assert.match(queries[0] ?? "", /status <> 'completed'[^]* in \('a', 'b''', 'c'\)$/);
      assert.deepEqual(await admin.idleSessions([]), []);
      assert.equal(queries.length, 1);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
