// How requests travel: Node's own fetch gives up on a server that says nothing for 300 s, as local
// models do over long prompts, and asks no proxy. `fetch` takes another; this one needs `npm
// install undici` and has no limits but yours.
import { createServer } from "node:http";
import { Agent, getModel, messageText } from "@bowline/core";
import { createUndiciFetch } from "@bowline/core/undici";
import { EnvHttpProxyAgent } from "undici";

// A model's server on this machine, so that the example needs no key.
const answer = `data: {"choices":[{"delta":{"content":"Slow, but here."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
const server = createServer((_request, response) => response.end(answer));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = server.address();
const port = typeof address === "object" ? address?.port : undefined;

// HTTP_PROXY, HTTPS_PROXY and NO_PROXY say where requests go. Without a dispatcher they go straight
// to their servers, and `createUndiciFetch()` is all there is to write.
const dispatcher = new EnvHttpProxyAgent({ noProxy: "127.0.0.1", connect: { timeout: 5_000 } });

const agent = new Agent({
  model: getModel("custom", "local", { baseUrl: `http://127.0.0.1:${port}/v1` }),
  fetch: createUndiciFetch({ dispatcher }),
  // An hour for the first byte of the answer, ten minutes for each that follows, a day for the
  // whole.
  timeouts: { firstByteMs: 3_600_000, idleMs: 600_000, totalMs: 86_400_000 },
});
const { message } = await agent.prompt("Are you there?");
console.log(message && messageText(message));

await dispatcher.close();
server.close();

/* Prints:
Slow, but here.
*/
