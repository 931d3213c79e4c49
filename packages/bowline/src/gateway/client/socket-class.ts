/** The part of a WebSocket that a client needs, from any implementation. */

/** The WebSocket of a browser, of Node, or of `ws`. */
export type SocketClass = new (url: string) => Pick<Socket, "send" | "close">;

/** The members that the client uses. */
export interface Socket {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(
    type: "open" | "message" | "close" | "error",
    listener: (event: never) => void,
  ): void;
}

/** Returns the global WebSocket. Throws `TypeError` if there is none. */
export function ownWebSocket(): SocketClass {
  const { WebSocket } = globalThis as { readonly WebSocket?: SocketClass };
  if (WebSocket === undefined)
    throw new TypeError(
      "There is no global WebSocket. Use Node 22 or newer, or pass the class of ws as WebSocket.",
    );
  return WebSocket;
}
