/** Errors of a first connection to NATS that fails. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { describe, it } from "node:test";
import { openNats } from "../src/bus/nats-connection.ts";

/** A server that does this with a connection. */
async function serving(answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    answer(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

const failed = { code: "connection_failed", retryable: true };

describe("a first connection to NATS that fails", () => {
  it("names the servers and the reason, and no password", async () => {
    const servers = ["nats://ann:secret@127.0.0.1:1", "127.0.0.1:2"];
    await assert.rejects(openNats({ servers }), {
      ...failed,
      message: "NATS at 127.0.0.1:1, 127.0.0.1:2 cannot be reached: connection refused.",
    });
  });

  it("says what may be wrong with a server that does not answer", async () => {
    await using server = await serving(() => {});
    await assert.rejects(openNats({ servers: server.host, timeoutMs: 200 }), {
      ...failed,
      message: `NATS at ${server.host} cannot be reached: it did not answer in time. Does it want TLS, or has it a certificate that this process does not trust?`,
    });
  });

  it("says that another server answers", async () => {
    await using server = await serving((socket) => void socket.write("HTTP/1.1 400\r\n\r\n"));
    await assert.rejects(openNats({ servers: `nats://${server.host}` }), {
      ...failed,
      message: `NATS at ${server.host} cannot be reached: unexpected response from server.`,
    });
  });
});
