/** What a client needs of a WebSocket, whosever it is. */

/** The browser's WebSocket, Node's own or that of `ws`. */
export type SocketClass = new (url: string) => Pick<Socket, "send" | "close">;

/** The part of it that is used. */
export interface Socket {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(
    type: "open" | "message" | "close" | "error",
    listener: (event: never) => void,
  ): void;
}

/** Throws where there is none. */
export function ownWebSocket(): SocketClass {
  const { WebSocket } = globalThis as { readonly WebSocket?: SocketClass };
  if (WebSocket === undefined)
    throw new TypeError("There is no WebSocket here: pass that of ws, or use Node 22 or newer.");
  return WebSocket;
}
