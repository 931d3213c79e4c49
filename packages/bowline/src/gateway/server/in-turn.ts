/** Requests of one connection, one after the other. */
import type { RequestListener } from "node:http";
import type { Socket } from "node:net";

/**
 * Calls `answer` for a request when those before it on its connection are answered and taken. Node
 * calls for all that it has read, and keeps what they come to: a client that asks for much and
 * takes nothing could fill the memory. One that has more than `maxWaiting` waiting is cut off.
 */
export function inTurn(answer: RequestListener, maxWaiting: number): RequestListener {
  /** What waits on a connection where one is being answered. */
  const queues = new WeakMap<Socket, (() => void)[]>();
  return (request, response) => {
    const { socket } = request;
    const begin = (): void => {
      response.once("close", () => {
        const next = socket.destroyed ? undefined : queues.get(socket)?.shift();
        if (next === undefined) queues.delete(socket);
        else next();
      });
      answer(request, response);
    };
    const queue = queues.get(socket);
    if (queue === undefined) {
      queues.set(socket, []);
      begin();
    } else if (queue.length < maxWaiting) queue.push(begin);
    else socket.destroy();
  };
}
