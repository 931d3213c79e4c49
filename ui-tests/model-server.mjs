// A model server on a free port whose answers follow from the last message:
// "pay Ann 5" calls `pay`, "pay Ann 5, pay Bob 6" calls it twice, "count" counts for seconds.
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export async function startModel() {
  const state = { open: 0, delayMs: 40 };
  const server = createServer((request, response) => void answer(request, response, state));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    state,
    url: `http://127.0.0.1:${server.address().port}/v1`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function answer(request, response, state) {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  const { messages } = JSON.parse(body);
  const last = messages.at(-1);
  // After an answer that was cut, a note stands on lines before the user's own text.
  const text = last.content.split("\n").at(-1);
  response.writeHead(200, { "content-type": "text/event-stream" });
  state.open += 1;
  response.on("close", () => (state.open -= 1));
  const send = (delta, finish_reason = null) =>
    response.write(
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
    );
  const bills = last.role === "user" ? [...text.matchAll(/pay (\w+) (\d+)/g)] : [];
  for (const [index, [, to, euros]] of bills.entries())
    send({
      tool_calls: [
        {
          index,
          id: `call_${index}`,
          type: "function",
          function: { name: "pay", arguments: JSON.stringify({ to, euros: Number(euros) }) },
        },
      ],
    });
  if (bills.length === 0 && last.role === "user" && text.includes("count"))
    for (let word = 1; word <= 100 && !response.destroyed; word++) {
      send({ content: `${word} ` });
      await sleep(state.delayMs);
    }
  else if (bills.length === 0) send({ content: `Heard: ${text}` });
  send({}, bills.length > 0 ? "tool_calls" : "stop");
  response.end("data: [DONE]\n\n");
}
