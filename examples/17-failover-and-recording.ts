// Failover to another vendor, and a recording of the exchange. An app's test replays it without a
// network and without a key.
import { Agent, createFailover, createRecorder, getModel, streamByProtocol } from "@bowline/core";

// Replaces the network, so that the example needs no key: the first of two model servers is out of
// order. In your app it is the global `fetch`.
const network = (url: string | URL | Request): Promise<Response> =>
  Promise.resolve(
    new Request(url).url.startsWith("https://one.test")
      ? Response.json({ error: { message: "Down." } }, { status: 503 })
      : new Response(
          `data: {"choices":[{"delta":{"content":"I stand in."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`,
        ),
  );

/** The app. It can be tested because `fetch` and the keys are passed in. */
async function ask(
  question: string,
  fetch: typeof globalThis.fetch,
  keys: Record<string, string>,
): Promise<string> {
  const getApiKey = (provider: string) => keys[provider];
  const agent = new Agent({
    // any name, for your own server
    model: getModel("one", "first", { baseUrl: "https://one.test/v1" }),
    getApiKey,
    // The agent's key is for its own model. Failover needs the keys of the others.
    streamFn: createFailover({
      streamFn: streamByProtocol,
      models: [getModel("two", "second", { baseUrl: "https://two.test/v1" })],
      getApiKey,
    }),
    // retries of each model before the next one; each call begins with the first model
    maxRetries: 0,
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

const kept = JSON.stringify(recorder.recording); // a file among your tests
console.log(kept.includes("key-of"));

const playback = createRecorder({
  mode: "playback",
  recording: JSON.parse(kept) as typeof recorder.recording,
});
console.log(await ask("Who is there?", playback.fetch, {}));
// fails, since this request was not recorded
console.log(await ask("Who is it?", playback.fetch, {}));

/* Prints:
server_error: on to two/second
I stand in.
false
server_error: on to two/second
I stand in.
invalid_state: No recorded answer for POST https://one.test/v1/chat/completions: the nearest, number 1, differs first at body.messages[0].content: expected the string "Who is there?", received the string "Who is it?".
*/
