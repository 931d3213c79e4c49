/** A load balancer that sends all connections to one target, and can change to another. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

export class Switch implements AsyncDisposable {
  readonly uri: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;

  constructor(server: Server) {
    this.#server = server;
    this.uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("connection", (socket) => this.#forward(socket));
  }

  /** Sends later connections to this port. Cuts the present ones. */
  to(port: number): void {
    this.#port = port;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.to(0);
    await once(this.#server, "close");
  }

  #forward(near: Socket): void {
    const far = connect(this.#port, "127.0.0.1");
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}

export async function startSwitch(port: number): Promise<Switch> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const made = new Switch(server);
  made.to(port);
  return made;
}
