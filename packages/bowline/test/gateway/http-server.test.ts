/** The shutdown of the HTTP server, whose responses may still be on their way. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import { describe, it } from "node:test";
import type { ServerResponse } from "node:http";
import { createHttpServer } from "../../src/gateway/server/http-server.ts";
import { defaultLimits } from "../../src/gateway/protocol/limits.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";
import { within } from "../../../../test/support/within.ts";

/** A server with one request that it has not answered, and the client's view of it. */
async function withRequest(): Promise<
  AsyncDisposable & {
    readonly http: ReturnType<typeof createHttpServer>;
    readonly clock: ManualClock;
    readonly response: ServerResponse;
    /** Resolves with the body. */
    readonly answer: Promise<string>;
  }
> {
  const clock = new ManualClock();
  const begun = deferred<ServerResponse>();
  const http = createHttpServer((_, response) => begun.resolve(response), defaultLimits, clock);
  await http.listen(0, "127.0.0.1");
  const { port } = http.server.address() as AddressInfo;
  const answer = fetch(`http://127.0.0.1:${port}`, { headers: { connection: "close" } }).then(
    (given) => given.text(),
  );
  return {
    http,
    clock,
    response: await begun.promise,
    answer,
    async [Symbol.asyncDispose]() {
      http.server.closeAllConnections();
      await answer.catch(() => {});
    },
  };
}

describe("a server that closes", () => {
  it("lets a response in progress end, and leaves no timer", async () => {
    await using asked = await withRequest();
    const { http, clock, response, answer } = asked;
    let isClosed = false;
    const closed = http.close(1000).then(() => (isClosed = true));
    await settle();
    assert.equal(isClosed, false);
    response.end("whole");
    assert.equal(await answer, "whole");
    await closed;
    assert.equal(clock.pending, 0);
  });

  it("cuts a response that has not ended after the grace period", async () => {
    await using asked = await withRequest();
    const { http, clock, answer } = asked;
    const closed = http.close(1000);
    const cut = assert.rejects(answer, TypeError);
    await clock.advance(1000);
    await within("the response is cut", cut);
    await closed;
  });

  it("does not wait for a connection on which nothing was sent", async () => {
    const clock = new ManualClock();
    const http = createHttpServer(() => assert.fail("no request"), defaultLimits, clock);
    await http.listen(0, "127.0.0.1");
    const accepted = once(http.server, "connection");
    const socket = connect((http.server.address() as AddressInfo).port, "127.0.0.1");
    try {
      await accepted;
      await within("the server is closed", http.close(1000), 3000);
    } finally {
      socket.destroy();
    }
  });
});
