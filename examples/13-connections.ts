// Connections to model servers. Node's own fetch aborts after 300 s without data, which local
// models exceed with long prompts, and it uses no proxy. The `fetch` option replaces it. This one
// needs `npm install undici` and has only the time limits that you set.
import { createServer } from "node:http";
import { Agent, getModel, messageText } from "@bowline/core";
import { createUndiciFetch } from "@bowline/core/undici";
import { EnvHttpProxyAgent } from "undici";

// A model server on this machine, so that the example needs no key.
const answer = `data: {"choices":[{"delta":{"content":"Slow, but here."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
const server = createServer((_request, response) => response.end(answer));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = server.address();
const port = typeof address === "object" ? address?.port : undefined;

// Uses the proxies of HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Without a proxy, `createUndiciFetch()`
// without arguments is enough.
const dispatcher = new EnvHttpProxyAgent({ noProxy: "127.0.0.1", connect: { timeout: 5_000 } });

const agent = new Agent({
  model: getModel("custom", "local", { baseUrl: `http://127.0.0.1:${port}/v1` }),
  fetch: createUndiciFetch({ dispatcher }),
  // An hour until the first byte of the answer, ten minutes between bytes, a day for the whole
  // call.
  timeouts: { firstByteMs: 3_600_000, idleMs: 600_000, totalMs: 86_400_000 },
});
const { message } = await agent.prompt("Are you there?");
console.log(message && messageText(message));

await dispatcher.close();
server.close();

/* Prints:
Slow, but here.
*/
