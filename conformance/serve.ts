/** Serves the fixtures on loopback: a request below `/<n>/` gets the bytes of fixture n. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Fixture } from "./fixture.ts";

export interface FixtureServer extends AsyncDisposable {
  readonly origin: string;
}

export async function serveFixtures(fixtures: readonly Fixture[]): Promise<FixtureServer> {
  const server = createServer((request, response) => {
    const fixture = fixtures[Number(request.url?.split("/")[1])];
    request.resume().on("end", () => void answer(fixture, request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(
  fixture: Fixture | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // The request after a redirect, and any other request that a client makes beyond its call.
  if (fixture === undefined || request.method !== "POST") {
    response
      .writeHead(fixture === undefined ? 404 : 200, { "content-type": "text/html" })
      .end("<html>moved</html>");
    return;
  }
  const {
    status = 200,
    headers = { "content-type": "text/event-stream; charset=utf-8" },
    after,
    body,
  } = fixture;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  response.writeHead(status, headers);
  if (after === undefined || after === "close") {
    response.end(bytes);
    return;
  }
  response.write(bytes);
  if (after === "hold") return;
  await sleep(50); // so that the bytes arrive before the reset
  request.socket.resetAndDestroy();
}
