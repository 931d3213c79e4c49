// Tests the built files on every runtime: a tool loop, a wire over streamed bytes, an abort, a
// proxy, and real connections to `model-server.mjs`. Plain JavaScript without `node:` imports, so
// that browsers can run it. Throws, or prints "ok".
import { Agent, defineTool } from "@bowline/core/agent";
import { streamOpenaiChat } from "@bowline/core/openai-chat";
import { createStreamProxyHandler, streamProxy } from "@bowline/core/proxy";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";

const origin = globalThis.modelServer ?? globalThis.process.argv[2];

await runTools();
await readWire();
await abortRun();
await callThroughProxy();
await connect();
console.log("ok");

async function runTools() {
  const add = defineTool({
    name: "add",
    description: "Adds two numbers",
    parameters: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    },
    execute: ({ a, b }) => String(a + b),
  });
  const script = createScriptedModel([
    {
      content: [
        scriptedToolCall("add", { a: 2, b: 3 }, "good"),
        scriptedToolCall("add", { a: "two" }, "bad"),
      ],
    },
    "The sum is five.",
  ]);
  const agent = new Agent({
    initialState: { model: script.model, tools: [add] },
    streamFn: script.streamFn,
  });
  const events = [];
  agent.subscribe((event) => void events.push(event));
  const result = await agent.prompt("2 + 3?");

  script.assertFinished();
  same("the reason", result.reason, "done");
  same("the outcomes", result.tools, [
    { toolCallId: "good", toolName: "add", outcome: "finished" },
    { toolCallId: "bad", toolName: "add", outcome: "not_started" },
  ]);
  const toolResults = agent.state.messages.filter((message) => message.role === "toolResult");
  same("the tool's result", toolResults[0].content, [{ type: "text", text: "5" }]);
  same("a wrong argument is an error", toolResults[1].isError, true);
  same("the answer", textOf(result.message), "The sum is five.");
  same(
    "the numbering of events",
    events.map((event) => event.seq),
    events.map((_, index) => index),
  );
}

async function readWire() {
  const lines = [
    { choices: [{ index: 0, delta: { role: "assistant", content: "Grüße, " } }] },
    { choices: [{ index: 0, delta: { content: "世界 🌍" } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  ].map(
    (chunk) =>
      `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", ...chunk })}\r\n\r\n`,
  );
  const bytes = new TextEncoder().encode(`${lines.join("")}data: [DONE]\n\n`);
  const requests = [];
  // Three bytes per chunk, so that multi-byte characters are split.
  const fetch = async (url, init) => {
    requests.push({ url: String(url), body: JSON.parse(init.body) });
    const body = new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 3) controller.enqueue(bytes.slice(at, at + 3));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const model = {
    id: "any",
    name: "any",
    api: "openai-chat",
    provider: "local",
    baseUrl: "http://127.0.0.1:1/v1",
    reasoning: false,
    input: ["text"],
  };
  const agent = new Agent({
    initialState: { model, systemPrompt: "Greet." },
    streamFn: streamOpenaiChat,
    fetch,
  });
  const result = await agent.prompt("hello");

  same("the wire's error", result.error?.message, undefined);
  same("the wire's answer", textOf(result.message), "Grüße, 世界 🌍");
  same("the requests", requests.length, 1);
  same("the model asked for", requests[0].body.model, "any");
}

async function abortRun() {
  const script = createScriptedModel(["a long answer ".repeat(100)], { delayMs: 5 });
  const agent = new Agent({ initialState: { model: script.model }, streamFn: script.streamFn });
  agent.subscribe((event) => {
    if (event.type === "message_update") agent.abort();
  });
  const result = await agent.prompt("talk");

  same("the reason of an aborted run", result.reason, "aborted");
  same("whether the agent streams", agent.state.isStreaming, false);
}

async function callThroughProxy() {
  const script = createScriptedModel(["Hello from behind."]);
  const handler = createStreamProxyHandler({
    streamFn: script.streamFn,
    authorize: (request) => request.headers.get("authorization") === "Bearer ann",
    allowModel: () => script.model,
  });
  const agent = new Agent({
    initialState: { model: script.model },
    fetch: (url, init) => handler(new Request(url, init)),
    streamFn: (model, context, options) =>
      streamProxy(model, context, {
        ...options,
        authToken: "ann",
        proxyUrl: "https://example.com",
      }),
  });
  const result = await agent.prompt("hello");

  same("the proxy's error", result.error?.message, undefined);
  same("the proxy's answer", textOf(result.message), "Hello from behind.");
}

/** Tests connections that succeed, break, stall, are aborted by their fetch, or are cancelled. */
async function connect() {
  const ask = (path, options) => {
    const model = {
      id: "any",
      name: "any",
      api: "openai-chat",
      provider: "local",
      baseUrl: `${origin}/${path}/v1`,
    };
    const context = { messages: [{ role: "user", content: "hello", timestamp: 1 }] };
    const all = { apiKey: "dummy", maxRetries: 0, ...options };
    return streamOpenaiChat({ ...model, reasoning: false, input: ["text"] }, context, all);
  };
  const outcome = async (path, options) => {
    const message = await ask(path, options).result();
    return [message.stopReason, message.error?.code, textOf(message)];
  };
  same("an answer", await outcome("whole"), ["stop", undefined, "Hello."]);
  same("a connection that breaks", await outcome("cut"), ["error", "connection_failed", "Hel"]);
  const idle = { timeouts: { idleMs: 200 } };
  same("a server that falls silent", await outcome("held", idle), ["error", "timeout", "Hel"]);
  const hasty = (url, init) =>
    fetch(url, { ...init, signal: AbortSignal.any([init.signal, AbortSignal.timeout(200)]) });
  same("a fetch that has a limit", await outcome("held", { fetch: hasty }), [
    "error",
    "timeout",
    "Hel",
  ]);
  const controller = new AbortController();
  const stream = ask("held", { signal: controller.signal });
  for await (const event of stream) if (event.type === "text_delta") controller.abort();
  const { stopReason } = await stream.result();
  same("an abort", stopReason, "aborted");
  const open = async () => (await fetch(`${origin}/open`)).text();
  for (let tries = 0; (await open()) !== "0" && tries < 200; tries++)
    await new Promise((done) => setTimeout(done, 10));
  same("connections that are held", await open(), "0");
}

function textOf(message) {
  return message?.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

function same(what, actual, expected) {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: ${a} instead of ${b}`);
}
