// Generates streams of Anthropic's Messages. Blocks follow each other, as documented. Excluded:
// signatures in several deltas, which the server never sent and of which the official helper keeps
// only the last; and empty answers, which our client reports as an error.
import * as fc from "fast-check";
import { argumentsOrNothing, inPieces, text, toolName } from "./values.mjs";

const citation = fc.oneof(
  fc.record({
    type: fc.constant("web_search_result_location"),
    cited_text: text,
    url: text,
    title: fc.constantFrom(null, "t"),
    encrypted_index: text,
  }),
  fc.record({
    type: fc.constant("char_location"),
    cited_text: text,
    document_index: fc.nat(3),
    document_title: fc.constant(null),
    start_char_index: fc.nat(9),
    end_char_index: fc.nat(9),
    file_id: fc.constant(null),
  }),
);
const program = { type: "code_execution_20250825", tool_id: "srvtoolu_x" };
const caller = fc.constantFrom({}, { caller: { type: "direct" } }, { caller: program });

const textBlock = fc
  .record({
    pieces: inPieces(text),
    citations: fc.array(citation, { maxLength: 2 }),
    said: fc.constantFrom(undefined, null, []),
  })
  .filter(({ pieces, citations }) => citations.length === 0 || pieces.join("") !== "")
  .map(({ pieces, citations, said }) => ({
    start: {
      type: "text",
      text: "",
      ...((said !== undefined || citations.length > 0) && { citations: said ?? [] }),
    },
    deltas: [
      ...pieces.slice(0, 1).map((piece) => ({ type: "text_delta", text: piece })),
      ...citations.map((one) => ({ type: "citations_delta", citation: one })),
      ...pieces.slice(1).map((piece) => ({ type: "text_delta", text: piece })),
    ],
  }));

const thinkingBlock = fc
  .record({
    pieces: fc.oneof(inPieces(text), fc.constant([])),
    signature: fc.base64String({ minLength: 4 }),
  })
  .map(({ pieces, signature }) => ({
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      ...pieces.map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature },
    ],
  }));

const redactedBlock = fc
  .base64String({ minLength: 4 })
  .map((data) => ({ start: { type: "redacted_thinking", data }, deltas: [] }));

const toolBlock = fc
  .record({
    name: toolName,
    by: caller,
    pieces: inPieces(argumentsOrNothing),
    isEager: fc.boolean(),
  })
  .map(({ name, by, pieces, isEager }) => ({
    start: { type: "tool_use", name, input: {}, ...by },
    deltas: inputDeltas(isEager ? pieces : ["", ...pieces]),
  }));

const serverTool = fc.constantFrom(
  [
    "web_search",
    "web_search_tool_result",
    [{ type: "web_search_result", url: "u", title: "t", encrypted_content: "e", page_age: null }],
  ],
  [
    "web_search",
    "web_search_tool_result",
    { type: "web_search_tool_result_error", error_code: "unavailable" },
  ],
  [
    "web_fetch",
    "web_fetch_tool_result",
    { type: "web_fetch_result", url: "u", retrieved_at: null, content: { type: "document" } },
  ],
  [
    "code_execution",
    "code_execution_tool_result",
    { type: "code_execution_result", stdout: "😀\n", stderr: "", return_code: 0, content: [] },
  ],
  [
    "bash_code_execution",
    "bash_code_execution_tool_result",
    { type: "bash_code_execution_result", stdout: "", stderr: "", return_code: 1, content: [] },
  ],
  [
    "tool_search_tool_regex",
    "tool_search_tool_result",
    { type: "tool_search_tool_search_result", tool_references: [] },
  ],
);
const serverBlocks = fc
  .tuple(serverTool, inPieces(argumentsOrNothing), caller, fc.boolean())
  .map(([[name, type, content], pieces, by, isPaused]) => [
    {
      start: { type: "server_tool_use", name, input: {}, ...by },
      deltas: inputDeltas(["", ...pieces]),
    },
    ...(isPaused ? [] : [{ start: { type, content, ...by }, deltas: [], isResult: true }]),
  ]);

const one = fc.oneof(textBlock, thinkingBlock, toolBlock, redactedBlock).map((block) => [block]);
const blocks = fc.array(
  fc.oneof({ weight: 4, arbitrary: one }, { weight: 1, arbitrary: serverBlocks }),
  {
    maxLength: 5,
  },
);

const count = fc.nat(99_999);
const usage = fc.record(
  {
    input_tokens: count,
    output_tokens: fc.nat(9),
    cache_creation_input_tokens: fc.option(count),
    cache_read_input_tokens: fc.option(count),
    cache_creation: fc.constantFrom(null, {
      ephemeral_5m_input_tokens: 0,
      ephemeral_1h_input_tokens: 0,
    }),
    service_tier: fc.constantFrom(null, "standard"),
  },
  { requiredKeys: ["input_tokens", "output_tokens"] },
);
const finalUsage = fc.record(
  {
    output_tokens: count,
    input_tokens: fc.option(count),
    cache_creation_input_tokens: fc.option(count),
    cache_read_input_tokens: fc.option(count),
    output_tokens_details: fc.constantFrom(null, { thinking_tokens: 3 }),
    server_tool_use: fc.constantFrom(null, { web_search_requests: 1, web_fetch_requests: 0 }),
  },
  { requiredKeys: ["output_tokens"] },
);

const answer = fc.record({
  blocks: blocks.map((groups) => groups.flat()),
  ending: fc.constantFrom(
    "whole",
    "whole",
    "whole",
    "stop_sequence",
    "max_tokens",
    "model_context_window_exceeded",
    "pause_turn",
    "refusal",
    "error",
  ),
  usage,
  between: fc.option(finalUsage, { nil: undefined, freq: 5 }),
  finalUsage,
  model: fc.constantFrom("recorded", "claude-9"),
  pings: fc.array(fc.nat(99), { maxLength: 2 }),
  details: fc.constantFrom({}, { stop_details: null }, { container: null }),
});

export const messagesStream = answer
  .map(toEvents)
  .filter((events) => events.some(({ data }) => isSomething(data)));

/** Whether this library creates a part for the event. */
function isSomething({ content_block: block, delta }) {
  if (block !== undefined) return block.type !== "text" && block.type !== "thinking";
  return Boolean(delta?.text || delta?.thinking || delta?.signature);
}

function inputDeltas(pieces) {
  return pieces.map((partial_json) => ({ type: "input_json_delta", partial_json }));
}

function toEvents(parts) {
  const events = [start(parts)];
  const isCut = ["max_tokens", "model_context_window_exceeded"].includes(parts.ending);
  let server = "";
  for (const [index, block] of parts.blocks.entries()) {
    const id = `${block.start.type === "tool_use" ? "toolu" : "srvtoolu"}_${index}`;
    const ids = block.isResult
      ? { tool_use_id: server }
      : block.start.type.endsWith("tool_use") && { id };
    server = id;
    const isLast = isCut && index === parts.blocks.length - 1 && isCuttable(block);
    events.push({ type: "content_block_start", index, content_block: { ...block.start, ...ids } });
    for (const delta of isLast ? cutOff(block) : block.deltas)
      events.push({ type: "content_block_delta", index, delta });
    events.push({ type: "content_block_stop", index });
  }
  for (const place of parts.pings) events.splice(1 + (place % events.length), 0, { type: "ping" });
  return [...events, ...ends(parts)].map((data) => ({ name: data.type, data }));
}

/** The official helper fails on input that is only white space. */
function cutOff({ deltas }) {
  const kept = deltas.slice(0, -1);
  const isBlank = kept.every(({ partial_json: piece }) => piece?.trim() === "");
  return isBlank ? kept.filter(({ partial_json: piece }) => piece === "") : kept;
}

/**
 * Excludes two blocks that clients read differently when truncated. Our client keeps the initial
 * input of a server's tool, and a text with citations depends on its end.
 */
function isCuttable({ start: { type }, deltas }) {
  return type !== "server_tool_use" && !deltas.some((delta) => delta.type === "citations_delta");
}

function start({ usage: counts, model }) {
  const message = {
    id: "msg_7",
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
  };
  return { type: "message_start", message: { ...message, stop_sequence: null, usage: counts } };
}

function ends({ ending, blocks: all, ...parts }) {
  if (ending === "error")
    return [
      {
        type: "error",
        error: { type: "overloaded_error", message: "Overloaded" },
        request_id: "r",
      },
    ];
  const hasCalls = all.some((block) => block.start.type === "tool_use");
  const isBenign = ["whole", "stop_sequence", "pause_turn"].includes(ending);
  const whole = ending === "whole" ? "end_turn" : ending;
  const reason = isBenign && hasCalls ? "tool_use" : whole;
  const delta = {
    stop_reason: reason,
    stop_sequence: reason === "stop_sequence" ? "END" : null,
    ...parts.details,
  };
  const early = {
    type: "message_delta",
    delta: { stop_reason: null, stop_sequence: null },
    usage: parts.between,
  };
  return [
    ...(parts.between === undefined ? [] : [early]),
    { type: "message_delta", delta, usage: parts.finalUsage },
    { type: "message_stop" },
  ];
}
