// Reads with the official Anthropic client: its raw stream, folded here into the expected answer,
// and its own stream helper.
import { emptyAnswer, parseArguments } from "./answer.mjs";

const request = {
  model: "recorded",
  max_tokens: 1000,
  messages: [{ role: "user", content: "Say it again." }],
};
const stopReasons = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "toolUse",
  refusal: "error",
};

export function anthropicPeers({ default: Anthropic }) {
  const client = (url) => new Anthropic({ apiKey: "dummy", baseURL: url, maxRetries: 0 });
  const fields = ["text", "thinking", "calls", "blocks", "stop", "usage", "id", "model"];
  return [
    { name: "anthropic raw", isRaw: true, fields, read: (url) => readRaw(client(url)) },
    {
      name: "anthropic helper",
      fields,
      // The helper guesses the rest of truncated arguments.
      fieldsWhenCut: fields.filter((field) => field !== "calls" && field !== "blocks"),
      normalize: withoutMcpInput,
      read: (url) => readHelper(client(url)),
    },
  ];
}

async function readRaw(client) {
  const message = { content: [] };
  const inputs = [];
  let failed;
  try {
    for await (const event of await client.messages.create({ ...request, stream: true })) {
      if (event.type === "message_start") Object.assign(message, event.message);
      else if (event.type === "content_block_start")
        message.content[event.index] = event.content_block;
      else if (event.type === "content_block_delta")
        addDelta(message.content[event.index], event, inputs);
      else if (event.type === "message_delta") {
        message.stop_reason = event.delta.stop_reason ?? message.stop_reason;
        for (const [field, value] of Object.entries(event.usage))
          if (value !== null) message.usage[field] = value;
      }
    }
  } catch (error) {
    failed = error.message;
  }
  for (const [index, text] of inputs.entries()) {
    if (text !== undefined && text !== "") message.content[index].input = parseArguments(text);
  }
  return toAnswer(message, failed);
}

function addDelta(block, { index, delta }, inputs) {
  if (delta.type === "text_delta") block.text += delta.text;
  else if (delta.type === "thinking_delta") block.thinking += delta.thinking;
  else if (delta.type === "signature_delta") block.signature = delta.signature;
  else if (delta.type === "input_json_delta")
    inputs[index] = (inputs[index] ?? "") + delta.partial_json;
  else if (delta.type === "citations_delta")
    block.citations = [...(block.citations ?? []), delta.citation];
  else throw new Error(`a delta that this comparison does not know: ${delta.type}`);
}

async function readHelper(client) {
  try {
    return toAnswer(await client.messages.stream(request).finalMessage(), undefined);
  } catch (error) {
    return { ...emptyAnswer(), failed: error.message };
  }
}

function toAnswer(message, failed) {
  const answer = { ...emptyAnswer(), id: message.id, model: message.model, failed };
  // Our client ignores an empty block.
  const blocks = message.content.filter((block) => !isEmpty(block));
  for (const block of blocks) {
    if (block.type === "text") answer.text += block.text;
    else if (block.type === "thinking") answer.thinking += block.thinking;
    else if (block.type === "tool_use")
      answer.calls.push({ id: block.id, name: block.name, arguments: block.input });
    answer.blocks.push(normalBlock(block));
  }
  answer.stop = failed === undefined ? stopReasons[message.stop_reason] : "error";
  answer.usage = normalUsage(message.usage);
  return answer;
}

function isEmpty({ type, text, citations, thinking, signature }) {
  return (
    (type === "text" && text === "" && !citations?.length) ||
    (type === "thinking" && !thinking && !signature)
  );
}

/** The helper does not update the initial input of an MCP tool call. */
function withoutMcpInput(ours) {
  return {
    ...ours,
    blocks: ours.blocks.map((block) =>
      block.type === "mcp_tool_use" ? { ...block, input: {} } : block,
    ),
  };
}

/**
 * Returns the part of a block that a client must be able to send back. Null or empty citations and
 * a direct caller are equal to none.
 */
function normalBlock(block) {
  const { citations, caller, ...rest } = block;
  if (block.type === "tool_use")
    return { ...rest, ...(caller?.tool_id !== undefined && { caller }) };
  if (block.type === "thinking") return { ...block, signature: block.signature || undefined };
  if (block.type !== "text") return block;
  return { type: "text", text: block.text, ...(citations?.length > 0 && { citations }) };
}

function normalUsage(usage) {
  const { input_tokens: input, output_tokens: output } = usage;
  const { cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite } = usage;
  const { thinking_tokens: reasoning } = usage.output_tokens_details ?? {};
  return {
    ...(input != null && { input }),
    ...(output != null && { output }),
    ...(cacheRead != null && { cacheRead }),
    ...(cacheWrite != null && { cacheWrite }),
    ...(reasoning != null && { reasoning }),
  };
}
