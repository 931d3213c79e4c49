/** A loopback proxy that cuts connections after a random number of bytes in either direction. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

export class Proxy {
  /** The server's port. With 0, connections are closed at once. */
  upstream = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  /** `cutAfter` returns, for each connection, the number of bytes before the cut, or Infinity. */
  static async listen(cutAfter: () => number): Promise<Proxy> {
    const server = createServer({ allowHalfOpen: true });
    const proxy = new Proxy(server);
    server.on("connection", (down) => proxy.#join(down, cutAfter()));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  close(): void {
    this.#server.close();
    this.cutAll();
  }

  #join(down: Socket, cutAfter: number): void {
    if (this.upstream === 0) return void down.destroy();
    const up = connect({ port: this.upstream, host: "127.0.0.1", allowHalfOpen: true });
    let left = cutAfter;
    const cut = (): void => {
      down.destroy();
      up.destroy();
    };
    for (const [from, to] of [
      [down, up],
      [up, down],
    ] as const) {
      this.#sockets.add(from);
      from.on("error", cut);
      from.on("close", () => {
        this.#sockets.delete(from);
        cut();
      });
      from.on("end", () => to.end());
      from.on("data", (chunk: Buffer) => {
        if (to.destroyed) return;
        to.write(chunk.subarray(0, left));
        left -= chunk.length;
        if (left <= 0) to.end(cut);
      });
    }
  }
}
