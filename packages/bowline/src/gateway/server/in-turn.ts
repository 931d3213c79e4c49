/** Answers the requests of one connection one after the other. */
import type { RequestListener } from "node:http";
import type { Socket } from "node:net";

/**
 * Calls `answer` for a request when the earlier responses on its connection have been sent. Node
 * calls the listener for every pipelined request and buffers the responses. A client that pipelines
 * requests and reads nothing could therefore exhaust the memory. A connection with more than
 * `maxWaiting` queued requests is destroyed.
 */
export function inTurn(answer: RequestListener, maxWaiting: number): RequestListener {
  /** The queued requests of each connection on which a request is being answered. */
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
