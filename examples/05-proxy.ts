// A page must hold no key. Its agent and its tools run in the browser; only the model call goes
// through your server, which knows who asks, which models are allowed, and the key.
import { Agent, messageText, streamProxy } from "@bowline/core";
import { createStreamProxyHandler } from "@bowline/core/proxy";
import { createScriptedModel } from "@bowline/core/testing";

// On the server, behind POST /api/stream of any framework that speaks `fetch`; for node:http,
// Express or Fastify `getRequestListener` of `@hono/node-server` makes a listener of it, which also
// hears of a client that goes away. For real models `streamFn` is `streamByProtocol`, `allowModel`
// gives `getModel("openai", "gpt-5-mini")`, and `options` holds the key.
const script = createScriptedModel(["Hello from behind the proxy."]);
const handler = createStreamProxyHandler({
  streamFn: script.streamFn,
  authorize: (request) => request.headers.get("authorization") === "Bearer session-of-ann",
  allowModel: (asked) => (asked.id === "fast" ? script.model : undefined),
});

// In the page. `fetch` is here a short cut to the handler, so that the example needs no port.
function pageAgent(modelId: string): Agent {
  return new Agent({
    model: { ...script.model, id: modelId },
    fetch: (url, init) => handler(new Request(url, init)),
    streamFn: (model, context, options) =>
      streamProxy(model, context, {
        ...options,
        authToken: "session-of-ann",
        proxyUrl: "https://example.com",
      }),
  });
}

const { message } = await pageAgent("fast").prompt("Hello?");
console.log(message && messageText(message));

const refused = await pageAgent("expensive").prompt("Hello?");
console.log(refused.reason, refused.error?.code);

/* Prints:
Hello from behind the proxy.
error permission_denied
*/
