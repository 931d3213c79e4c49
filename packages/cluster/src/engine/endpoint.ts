/** The HTTP/2 server of a worker. */
import { once } from "node:events";
import {
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import type { AddressInfo } from "node:net";

type Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

export class WorkerEndpoint {
  readonly #server: Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();
  #isDraining = false;

  constructor(handle: Handler) {
    this.#server = createServer((request, response) => {
      // Restate tries again, at another worker if there is one.
      if (this.#isDraining) response.writeHead(503).end();
      else handle(request, response);
    });
    this.#server.on("session", (session) => {
      this.#sessions.add(session);
      session.once("close", () => this.#sessions.delete(session));
      session.on("error", () => {}); // closes it; Restate attempts its invocations again
    });
  }

  /** Resolves with the port. Rejects with `EADDRINUSE`, … */
  async listen(port: number, host: string): Promise<number> {
    this.#server.listen(port, host);
    await once(this.#server, "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  /** Takes no more requests. Those in progress go on. */
  drain(): void {
    this.#isDraining = true;
    this.#server.close();
    for (const session of this.#sessions) session.close();
  }

  /** Ends all requests. Restate attempts their invocations again, elsewhere or later. */
  async close(): Promise<void> {
    this.drain();
    for (const session of this.#sessions) session.destroy();
    if (this.#server.listening) await once(this.#server, "close");
  }
}
