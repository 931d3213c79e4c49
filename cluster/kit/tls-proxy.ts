/** A proxy before a server: it ends TLS and takes only requests with its header. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";

export interface TlsProxyOptions {
  /** The address of the server. */
  readonly to: string;
  /** Paths of PEM files. */
  readonly tls: { readonly cert: string; readonly key: string };
  /** The `authorization` header of all requests. */
  readonly authorization: string;
}

export class TlsProxy implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start({ to, tls, authorization }: TlsProxyOptions): Promise<TlsProxy> {
    const files = { cert: readFileSync(tls.cert), key: readFileSync(tls.key) };
    const server = createServer(files, (from, response) => {
      if (from.headers.authorization !== authorization) {
        response.writeHead(401).end();
        return;
      }
      const { method, headers, url = "/" } = from;
      const onward = request(new URL(url, to), { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        pipeline(answer, response, () => {}); // a client that leaves is no failure
      });
      onward.once("error", () => response.destroy());
      pipeline(from, onward, () => {}); // "error" follows
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new TlsProxy(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }
}
