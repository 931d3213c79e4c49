/** A worker's endpoint within the test's process, whose connections are cut as if the process had died. */
import { once } from "node:events";
import {
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { EndpointHandler } from "@bowline/restate";

export class CutEndpoint {
  readonly #server: Http2Server;
  readonly #sockets = new Set<Socket>();
  #serving: PromiseWithResolvers<EndpointHandler> = Promise.withResolvers();

  private constructor(discovery: EndpointHandler) {
    const serve = async (
      request: Http2ServerRequest,
      response: Http2ServerResponse,
    ): Promise<void> => {
      const isAboutItself = request.url.endsWith("/discover");
      const handler = isAboutItself ? discovery : await this.#serving.promise;
      if (!response.stream.destroyed) handler(request, response);
    };
    this.#server = createServer((request, response) => void serve(request, response));
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {}); // that of a connection that was cut
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  /** Starts it. `discovery` describes the service when the endpoint is registered. */
  static async start(discovery: EndpointHandler): Promise<CutEndpoint> {
    const endpoint = new CutEndpoint(discovery);
    endpoint.#server.listen(0, "127.0.0.1");
    await once(endpoint.#server, "listening");
    return endpoint;
  }

  get uri(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Passes requests on, also those that came since the last cut, as a process that has started. */
  serve(handler: EndpointHandler): void {
    this.#serving.resolve(handler);
  }

  /** Cuts all connections at once. Later requests wait for `serve`. */
  cut(): void {
    this.#serving = Promise.withResolvers();
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.cut();
    await closed;
  }
}
