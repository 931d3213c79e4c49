/** Many pipelined requests on one connection, which need no token. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RawHttp } from "../fuzz/raw-http.ts";
import { within } from "../../../../test/support/within.ts";
import { gatewayWith, wait, type TestGateway, type TestOptions } from "./gateway.ts";

const get = (path: string): Buffer =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);

/** A page whose responses take a moment, and the paths requested. */
async function slowPage(more: TestOptions = {}): Promise<{
  readonly server: TestGateway;
  readonly asked: string[];
  readonly most: () => number;
}> {
  const asked: string[] = [];
  let [now, most] = [0, 0];
  const page = async (request: Request): Promise<Response> => {
    asked.push(new URL(request.url).pathname);
    most = Math.max(most, ++now);
    await wait(5);
    now--;
    return new Response(asked.at(-1));
  };
  // A response that never ends must not delay a failed test.
  const limits = { closeGraceMs: 200, ...more.limits };
  return { server: await gatewayWith([], { page, ...more, limits }), asked, most: () => most };
}

/** Resolves after this many answers, or at the end of the connection. Ends it if neither comes. */
async function answered(raw: RawHttp, count: number): Promise<void> {
  try {
    await within(`there are ${count} answers`, raw.until(count));
  } catch (error) {
    raw.socket.destroy();
    throw error;
  }
}

describe("pipelined requests on one connection", () => {
  it("are answered one after the other, however many arrive at once", async () => {
    const { server, asked, most } = await slowPage();
    await using _ = server;
    const raw = await RawHttp.open(server.gateway.port);
    const paths = Array.from({ length: 60 }, (__, index) => `/${index}`);
    for (const path of paths) raw.ask("GET", get(path));
    await answered(raw, paths.length);
    assert.deepEqual(
      raw.answers.map(({ body }) => body),
      paths,
    );
    assert.deepEqual([asked, most()], [paths, 1]);
    raw.ask("GET", get("/again"));
    await answered(raw, paths.length + 1);
    assert.equal(raw.answers.at(-1)?.body, "/again");
    raw.socket.destroy();
  });

  it("are no longer answered when there are too many", async () => {
    const { server, asked } = await slowPage({ limits: { maxPendingRequests: 10 } });
    await using _ = server;
    const raw = await RawHttp.open(server.gateway.port);
    raw.ask("GET", Buffer.concat(Array.from({ length: 1000 }, () => get("/"))));
    await answered(raw, Number.POSITIVE_INFINITY);
    raw.socket.destroy();
    await wait(50);
    assert.ok(asked.length <= 1, `${asked.length} were begun`);
    assert.equal((await fetch(`${server.gateway.url}/`)).status, 200);
  });

  it("are not started when their client has disconnected", async () => {
    const { server, asked } = await slowPage();
    await using _ = server;
    const raw = await RawHttp.open(server.gateway.port);
    for (let count = 0; count < 20; count++) raw.ask("GET", get("/"));
    while (asked.length === 0) await wait(1);
    raw.socket.resetAndDestroy();
    await wait(50);
    assert.ok(asked.length <= 2, `${asked.length} were begun`);
  });

  it("whose responses are not read end their connection", async () => {
    const text = "x".repeat(1024 * 1024);
    await using server = await gatewayWith([], {
      page: () => new Response(text),
      limits: { authTimeoutMs: 40, tickIntervalMs: 50 },
    });
    const raw = await RawHttp.open(server.gateway.port);
    raw.socket.pause();
    for (let count = 0; count < 30; count++) raw.ask("GET", get("/"));
    const sockets = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
    assert.ok(sockets() >= 2);
    // This client's socket stays open, because it is paused. Other sockets of this process may be
    // closing.
    for (let left = 1000; left > 0 && sockets() > 1; left--) await wait(20);
    assert.equal(sockets(), 1, "the server has let it go");
    raw.socket.destroy();
  });
});
