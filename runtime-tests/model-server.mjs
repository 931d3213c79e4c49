// A model server over raw sockets, for the scenario. The first part of the path selects its
// behaviour.
import { createServer } from "node:net";

const say = (content) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
const whole = `${say("Hello.")}data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
const chunk = (text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
// A browser sends a preflight request before it sends a key to another origin.
const cors =
  "access-control-allow-origin: *\r\naccess-control-allow-headers: authorization,content-type\r\n";
const stream = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n${cors}\r\n`;

/**
 * `/whole` answers, `/cut` closes the connection early, `/held` stops sending, and `/open` returns
 * the number of open `/held` requests.
 */
export async function startModelServer() {
  const held = new Set();
  const sockets = new Set();
  const answers = {
    whole: (socket) => socket.write(`${stream}${chunk(whole)}0\r\n\r\n`),
    cut: (socket) =>
      socket.write(stream + chunk(say("Hel")), () =>
        setTimeout(() => socket.resetAndDestroy(), 50),
      ),
    held: (socket) => held.add(socket) && socket.write(stream + chunk(say("Hel"))),
    open: (socket) => {
      const count = String(held.size);
      socket.end(
        `HTTP/1.1 200 OK\r\ncontent-length: ${count.length}\r\nconnection: close\r\n${cors}\r\n${count}`,
      );
    },
  };
  const server = createServer((socket) => {
    let text = "";
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => held.delete(socket) | sockets.delete(socket));
    socket.setEncoding("latin1").on("data", (data) => {
      text += data;
      const [head, body] = text.split("\r\n\r\n");
      if (body === undefined || body.length < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0))
        return;
      text = "";
      if (head.startsWith("OPTIONS"))
        return void socket.write(`HTTP/1.1 204 No Content\r\n${cors}\r\n`);
      answers[/\/(\w+)/.exec(head)?.[1]]?.(socket);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
