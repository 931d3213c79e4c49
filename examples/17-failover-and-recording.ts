// Another vendor when one is down, and the exchange kept: an app's test plays it back without a
// network and without a key.
import { Agent, createFailover, createRecorder, getModel, streamByProtocol } from "@bowline/core";

// The network, so that the example needs no key: of two model servers the first is out of order.
// Yours is the global `fetch`.
const network = (url: string | URL | Request): Promise<Response> =>
  Promise.resolve(
    new Request(url).url.startsWith("https://one.test")
      ? Response.json({ error: { message: "Down." } }, { status: 503 })
      : new Response(
          `data: {"choices":[{"delta":{"content":"I stand in."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`,
        ),
  );

/** The app. All that it takes for a test is that `fetch` and keys come from outside. */
async function ask(
  question: string,
  fetch: typeof globalThis.fetch,
  keys: Record<string, string>,
): Promise<string> {
  const getApiKey = (provider: string) => keys[provider];
  const agent = new Agent({
    model: getModel("one", "first", { baseUrl: "https://one.test/v1" }), // any name, for a server of your own
    getApiKey,
    // The agent's key is for its own model: failover has to be told the others'.
    streamFn: createFailover({
      streamFn: streamByProtocol,
      models: [getModel("two", "second", { baseUrl: "https://two.test/v1" })],
      getApiKey,
    }),
    maxRetries: 0, // further tries of each model before the next one is asked; each call begins with the first model again
    fetch,
  });
  agent.subscribe((event) => {
    if (event.type === "model_failover")
      console.log(`${event.error.code}: on to ${event.to.provider}/${event.to.model}`);
  });
  const { text, error } = await agent.prompt(question);
  return error ? `${error.code}: ${error.message}` : text;
}

const keys = { one: "key-of-vendor-one", two: "key-of-vendor-two" };
const recorder = createRecorder({ mode: "record", fetch: network, redact: Object.values(keys) });
console.log(await ask("Who is there?", recorder.fetch, keys));

const kept = JSON.stringify(recorder.recording); // a file of your tests
console.log(kept.includes("key-of"));

const playback = createRecorder({
  mode: "playback",
  recording: JSON.parse(kept) as typeof recorder.recording,
});
console.log(await ask("Who is there?", playback.fetch, {}));
console.log(await ask("Who is it?", playback.fetch, {})); // what was not recorded is not asked

/* Prints:
server_error: on to two/second
I stand in.
false
server_error: on to two/second
I stand in.
invalid_state: No recorded answer for POST https://one.test/v1/chat/completions: the nearest, number 1, differs first at body.messages[0].content: expected the string "Who is there?", received the string "Who is it?".
*/
