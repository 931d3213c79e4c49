// A page must not contain a key. Its agent and tools run in the browser. Only the model call goes
// through your server, which authenticates the user, restricts the models and has the key.
import { Agent, messageText, streamProxy } from "@bowline/core";
import { createStreamProxyHandler } from "@bowline/core/proxy";
import { createScriptedModel } from "@bowline/core/testing";

// On the server: handles POST /api/stream in any framework based on `fetch`. For node:http, Express
// or Fastify, `getRequestListener` of `@hono/node-server` converts it to a listener, which also
// notices when a client disconnects. For real models, `streamFn` is `streamByProtocol`,
// `allowModel` returns `getModel("openai", "gpt-5-mini")`, and `options` contains the key.
const script = createScriptedModel(["Hello from behind the proxy."]);
const handler = createStreamProxyHandler({
  streamFn: script.streamFn,
  authorize: (request) => request.headers.get("authorization") === "Bearer session-of-ann",
  allowModel: (asked) => (asked.id === "fast" ? script.model : undefined),
});

// In the page. Here `fetch` calls the handler directly, so that the example needs no port.
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
