// Generates streams of Chat Completions. Covers OpenAI's, and documented differences of others:
// reasoning as DeepSeek and OpenRouter send it, and Azure's first chunk. Excluded: custom tools,
// which this library does not declare; and empty answers, which our client reports as an error.
import * as fc from "fast-check";
import { merge } from "./framing.mjs";
import { anyArguments, inPieces, someText, text, toolName } from "./values.mjs";

const none = fc.constant([]);
const call = fc.record({
  name: toolName,
  pieces: inPieces(anyArguments),
  /** Whether the first chunk contains the first piece of the arguments. */
  isEager: fc.boolean(),
});

const chunkFields = fc.record(
  {
    created: fc.nat(),
    system_fingerprint: fc.constantFrom("fp_1", null),
    service_tier: fc.constantFrom("default", null),
    usage: fc.constant(null),
    obfuscation: fc.constant("x7"),
  },
  { requiredKeys: ["created"] },
);

const details = fc.record(
  { audio_tokens: fc.constant(0), accepted_prediction_tokens: fc.nat(9) },
  { requiredKeys: [] },
);
const usage = fc
  .record({
    read: fc.nat(9999),
    cached: fc.nat(9999),
    written: fc.nat(9999),
    thought: fc.nat(9999),
    details,
    bare: fc.boolean(),
  })
  .map(({ read, cached, written, thought, details: more, bare }) => ({
    prompt_tokens: read + cached,
    completion_tokens: written + thought,
    total_tokens: read + cached + written + thought,
    ...(!bare && {
      prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: thought, ...more },
    }),
  }));

const answer = fc.record({
  thoughts: fc.oneof(none, none, inPieces(text)),
  reasoning: fc.constantFrom(
    (piece) => ({ reasoning_content: piece }),
    (piece) => ({ content: null, reasoning_content: piece }),
    (piece) => ({
      content: "",
      reasoning: piece,
      reasoning_details: [{ type: "reasoning.text", text: piece, index: 0 }],
    }),
  ),
  texts: fc.oneof(none, inPieces(text)),
  refusal: fc.oneof({ weight: 9, arbitrary: none }, { weight: 1, arbitrary: inPieces(someText) }),
  calls: fc.oneof(none, fc.array(call, { maxLength: 4 })),
  order: fc.array(fc.nat(9), { maxLength: 12 }),
  /** Calls that share a chunk with the previous one, by their index among all pieces. */
  joined: fc.array(fc.nat(9), { maxLength: 3 }),
  ending: fc.constantFrom("whole", "whole", "whole", "whole", "length", "content_filter", "error"),
  /** Whether the call has the old `function_call` form, which allows only one. */
  isLegacy: fc.constantFrom(true, ...Array(9).fill(false)),
  hasOwnFinish: fc.boolean(),
  logprobs: fc.constantFrom(undefined, null, [
    { token: "a", logprob: -0.1, bytes: [97], top_logprobs: [] },
  ]),
  annotations: fc.boolean(),
  isAzure: fc.boolean(),
  /** Whether every delta names its role, and not only the first. */
  hasRoles: fc.boolean(),
  usage: fc.option(usage, { nil: undefined }),
  fields: chunkFields,
  model: fc.constantFrom("recorded", "gpt-9-2026-01-01"),
});

export const chatStream = answer
  .filter((parts) => [...parts.texts, ...parts.refusal].join("") !== "" || parts.calls.length > 0)
  .map(toEvents);

function toEvents(parts) {
  const { ending, logprobs, fields, model } = parts;
  const chunk = (choices, more) => ({
    data: { id: "chatcmpl-7", object: "chat.completion.chunk", model, ...fields, choices, ...more },
  });
  const choice = (delta, finish_reason = null) => ({
    index: 0,
    delta: { ...(parts.hasRoles && { role: "assistant" }), ...delta },
    ...(logprobs !== undefined && {
      logprobs: logprobs && delta.content ? { content: logprobs, refusal: null } : null,
    }),
    finish_reason,
  });
  const deltas = deltasOf(parts);
  const reason = finishReason(parts);
  const last = parts.hasOwnFinish ? {} : deltas.pop();
  const choices = [...deltas.map((delta) => choice(delta)), choice(last, reason)];
  const events = choices.map((one) => chunk([one]));
  if (parts.isAzure) addFilterChunks(events);
  if (ending === "error") {
    const error = {
      message: "The server had an error",
      type: "server_error",
      param: null,
      code: null,
    };
    return [...events.slice(0, -2), { data: { error } }];
  }
  if (parts.usage !== undefined) events.push(chunk([], { usage: parts.usage }));
  return [...events, { data: "[DONE]" }];
}

/**
 * Adds Azure's filter results: for the prompt before all other chunks, for the text at any later
 * time.
 */
function addFilterChunks(events) {
  const empty = { id: "", object: "", model: "", created: 0 };
  const filtered = {
    index: 0,
    finish_reason: null,
    content_filter_results: {},
    content_filter_offsets: {},
  };
  const late = { data: { ...empty, choices: [filtered] } };
  events.splice(-1, 0, late);
  events.push(late);
  events.unshift({ data: { ...empty, choices: [], prompt_filter_results: [{ prompt_index: 0 }] } });
}

function deltasOf({ thoughts, reasoning, texts, refusal, annotations, ending, ...parts }) {
  const calls = parts.isLegacy ? parts.calls.slice(0, 1) : parts.calls;
  const isBare = calls.length > 0 && texts.length === 0;
  const deltas = [
    { role: "assistant", content: isBare ? null : "", refusal: null },
    ...thoughts.map((piece) => reasoning(piece)),
    ...texts.map((content) => ({ content })),
    ...refusal.map((piece) => ({ refusal: piece })),
  ];
  const citation = {
    type: "url_citation",
    url_citation: { url: "u", title: "t", start_index: 0, end_index: 1 },
  };
  if (annotations && texts.length > 0) deltas.push({ annotations: [citation] });
  const lists = calls.map((one, index) =>
    callDeltas(one, index, ending === "length" && index === calls.length - 1),
  );
  if (parts.isLegacy)
    return [...deltas, ...lists.flat().map(({ function: fn }) => ({ function_call: fn }))];
  for (const [n, entry] of merge(lists, parts.order).entries()) {
    const before = deltas.at(-1);
    if (parts.joined.includes(n) && before.tool_calls !== undefined) before.tool_calls.push(entry);
    else deltas.push({ tool_calls: [entry] });
  }
  return deltas;
}

/** A truncated call lacks the last piece of its arguments. */
function callDeltas({ name, pieces, isEager }, index, isCut) {
  const sent = isCut ? pieces.slice(0, -1) : pieces;
  const [first = "", ...rest] = isEager ? sent : ["", ...sent];
  const start = {
    index,
    id: `call_${index}x`,
    type: "function",
    function: { name, arguments: first },
  };
  return [start, ...rest.map((piece) => ({ index, function: { arguments: piece } }))];
}

function finishReason({ ending, calls, isLegacy, hasOwnFinish }) {
  if (ending === "length" || ending === "content_filter") return ending;
  // A forced call ends with "stop".
  if (calls.length === 0 || hasOwnFinish)
    return calls.length > 0 && !isLegacy ? "tool_calls" : "stop";
  return isLegacy ? "function_call" : "stop";
}
