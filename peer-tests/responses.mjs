// Reads with the official openai client on Responses: the final response of its stream helper, and
// the response that its accumulator builds from all events but the last, which repeats everything.
import { emptyAnswer, parseArguments } from "./answer.mjs";

const request = { model: "recorded", input: "Say it again." };
const fields = ["text", "thinking", "calls", "blocks", "stop", "usage", "id", "model"];
const ends = ["response.completed", "response.incomplete", "response.failed"];

export function responsesPeers({ default: OpenAI }, { accumulateResponse }) {
  const client = (url) => new OpenAI({ apiKey: "dummy", baseURL: url, maxRetries: 0 });
  return [
    {
      name: "responses raw",
      isRaw: true,
      fields,
      read: (url) => readRaw(client(url), accumulateResponse),
    },
    { name: "responses helper", fields, read: (url) => readHelper(client(url)) },
  ];
}

async function readRaw(client, accumulateResponse) {
  let response;
  try {
    for await (const event of await client.responses.create({ ...request, stream: true })) {
      if (ends.includes(event.type))
        return toAnswer({ ...event.response, output: response.output });
      response = accumulateResponse(event, response);
    }
    throw new Error("no last event");
  } catch (error) {
    return { ...toAnswer(response), stop: "error", failed: error.message };
  }
}

async function readHelper(client) {
  try {
    return toAnswer(await client.responses.stream(request).finalResponse());
  } catch (error) {
    return { ...emptyAnswer(), failed: error.message };
  }
}

function toAnswer({ id, model, status, incomplete_details: details, output, usage, error }) {
  const answer = { ...emptyAnswer(), id, model };
  if (usage) answer.usage = normalUsage(usage);
  let isRefused = false;
  for (const item of output) {
    if (item.type === "message") {
      for (const content of item.content) {
        isRefused ||= content.type === "refusal";
        answer.text += content.text ?? content.refusal;
      }
    } else if (item.type === "reasoning") answer.thinking += thoughts(item);
    else if (item.type === "function_call")
      answer.calls.push({
        id: item.call_id,
        name: item.name,
        arguments: parseArguments(item.arguments),
      });
    answer.blocks.push(...toBlocks(item));
  }
  if (status === "failed") answer.failed = error.message;
  if (status === "failed" || details?.reason === "content_filter" || isRefused)
    answer.stop = "error";
  else
    answer.stop = status === "incomplete" ? "length" : answer.calls.length > 0 ? "toolUse" : "stop";
  return answer;
}

/**
 * Returns the blocks that a client must be able to send back. Our client ignores content without
 * text.
 */
function toBlocks(item) {
  const { id, phase, namespace, caller } = item;
  switch (item.type) {
    case "message":
      return item.content
        .map(({ text, refusal, annotations = [] }) => ({
          type: "text",
          text: text ?? refusal,
          id,
          ...(phase && { phase }),
          ...(annotations.length > 0 && { annotations }),
        }))
        .filter(({ text }) => text !== "");
    case "reasoning":
      return [
        { type: "thinking", text: thoughts(item), id, ...(item.encrypted_content && pick(item)) },
      ];
    case "function_call": {
      const { call_id, name, arguments: args } = item;
      const own = { ...(namespace && { namespace }), ...(caller?.caller_id && { caller }) };
      return [{ type: "call", call_id, name, arguments: args, id, ...own }];
    }
    default:
      return [item];
  }
}

function pick({ encrypted_content }) {
  return { encrypted_content };
}

function thoughts({ summary, content = [] }) {
  const texts = (summary.length > 0 ? summary : content).map(({ text }) => text);
  return texts.filter((text) => text !== "").join("\n\n");
}

/** Our input count excludes cached tokens. */
function normalUsage({ input_tokens: input, output_tokens: output, ...details }) {
  const { cached_tokens: cacheRead, cache_write_tokens: cacheWrite } = details.input_tokens_details;
  const { reasoning_tokens: reasoning } = details.output_tokens_details;
  return { input: input - cacheRead - cacheWrite, output, cacheRead, cacheWrite, reasoning };
}
