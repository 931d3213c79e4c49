/**
 * An HTTP proxy on a free loopback port that connects every CONNECT request to one server, whatever
 * host it names.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";

export interface ConnectProxy extends AsyncDisposable {
  /** http://127.0.0.1:PORT */
  readonly url: string;
  /** The `host:port` of each CONNECT request. */
  readonly tunnels: string[];
}

export async function connectProxy(server: string): Promise<ConnectProxy> {
  const tunnels: string[] = [];
  const proxy = createServer((_request, response) => void response.writeHead(400).end());
  proxy.on("connect", ({ url = "" }, socket: Socket) => {
    tunnels.push(url);
    const onward = connect(Number(new URL(server).port), "127.0.0.1", () =>
      socket.write("HTTP/1.1 200 Yes\r\n\r\n"),
    );
    for (const end of [socket, onward]) end.on("error", () => {});
    socket.pipe(onward).pipe(socket);
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    tunnels,
    async [Symbol.asyncDispose]() {
      proxy.close();
      proxy.closeAllConnections();
      await once(proxy, "close");
    },
  };
}
