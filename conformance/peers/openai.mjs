// The official openai client: its raw streams in a plain loop, and its helpers.
import { deliver, deliverParsed, heed, load, parameters, prompt } from "./common.mjs";

async function connect() {
  const { default: OpenAI } = await load("openai");
  return (url) => new OpenAI({ apiKey: "dummy", baseURL: url, maxRetries: 0 });
}

const chatTools = (names) =>
  names.map((name) => ({ type: "function", function: { name, parameters } }));
const responseTools = (names) =>
  names.map((name) => ({ type: "function", name, parameters, strict: false }));
const messages = [{ role: "user", content: prompt }];

export async function readOpenaiRaw() {
  const client = await connect();
  return (job, outcome) =>
    job.protocol === "openai-chat"
      ? rawChat(client(job.url), job, outcome)
      : rawResponses(client(job.url), job, outcome);
}

async function rawChat(client, { tools }, outcome) {
  const calls = [];
  let reason;
  const request = { model: "m", messages, tools: chatTools(tools), stream: true };
  for await (const chunk of await client.chat.completions.create(request)) {
    const choice = chunk.choices?.[0];
    outcome.text += choice?.delta?.content ?? "";
    for (const { index, function: fn } of choice?.delta?.tool_calls ?? []) {
      calls[index] ??= { name: "", text: "" };
      calls[index].name ||= fn?.name ?? "";
      calls[index].text += fn?.arguments ?? "";
    }
    reason = choice?.finish_reason ?? reason;
  }
  for (const { name, text } of Object.values(calls)) deliver(outcome, name, text || "{}");
  heed(outcome, reason);
}

async function rawResponses(client, { tools }, outcome) {
  const request = { model: "m", input: prompt, tools: responseTools(tools), stream: true };
  let reason;
  for await (const event of await client.responses.create(request)) {
    if (event.type === "response.output_text.delta") outcome.text += event.delta;
    else if (event.type === "response.output_item.done" && event.item.type === "function_call")
      deliver(outcome, event.item.name, event.item.arguments || "{}");
    else if (event.type === "error") throw new Error(event.message);
    else if (event.type === "response.failed") throw new Error(event.response.error?.message);
    else if (event.type === "response.incomplete")
      reason = event.response.incomplete_details?.reason;
  }
  heed(outcome, reason);
}

export async function readOpenaiHelper() {
  const client = await connect();
  return (job, outcome) =>
    job.protocol === "openai-chat"
      ? runTools(client(job.url), job, outcome)
      : helper(client(job.url), job, outcome);
}

/** The client runs the tools itself, so the executed calls count. */
async function runTools(client, { tools }, outcome) {
  outcome.ran = true;
  const runnable = tools.map((name) => ({
    type: "function",
    function: {
      name,
      parameters,
      parse: JSON.parse,
      function: (args) => {
        deliverParsed(outcome, name, args);
        return "ok";
      },
    },
  }));
  const runner = client.chat.completions.runTools(
    { model: "m", messages, tools: runnable, stream: true },
    { maxChatCompletions: 1 },
  );
  runner.on("content", (delta) => (outcome.text += delta));
  await runner.done();
  const [last] = runner.allChatCompletions();
  const { finish_reason: reason, message } = last.choices[0];
  outcome.refused = Math.max(0, (message.tool_calls?.length ?? 0) - outcome.calls.length);
  heed(outcome, reason);
}

async function helper(client, { tools }, outcome) {
  const request = { model: "m", input: prompt, tools: responseTools(tools) };
  const response = await client.responses.stream(request).finalResponse();
  outcome.text = response.output_text ?? "";
  for (const item of response.output)
    if (item.type === "function_call") deliver(outcome, item.name, item.arguments || "{}");
  heed(
    outcome,
    response.status === "incomplete" ? response.incomplete_details?.reason : response.status,
  );
}
