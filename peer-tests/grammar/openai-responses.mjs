// Generates streams of OpenAI's Responses. Excluded are:
//
// events that the official helper does not know and fails on (patches as they are written,
// `response.reasoning_summary.delta`);
//
// a message during which other items begin before its text: our client orders it by its text, the
// helper by its announcement;
//
// a server's item that is done long before its end event, for which our client does not wait;
//
// empty answers, which our client reports as an error.
import * as fc from "fast-check";
import { merge } from "./framing.mjs";
import { callItem, messageItem, reasoningItem, serverItem } from "./responses-items.mjs";

const prefixes = { message: "msg_", reasoning: "rs_", function_call: "fc_" };
const anyItem = fc.oneof(
  { weight: 3, arbitrary: messageItem },
  { weight: 2, arbitrary: reasoningItem },
  { weight: 3, arbitrary: callItem },
  { weight: 2, arbitrary: serverItem },
);

const count = fc.nat(9999);
const usage = fc
  .tuple(count, count, count, count, count)
  .map(([fresh, read, written, said, thought]) => ({
    input_tokens: fresh + read + written,
    input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    output_tokens: said + thought,
    output_tokens_details: { reasoning_tokens: thought },
    total_tokens: fresh + read + written + said + thought,
  }));

const answer = fc.record({
  items: fc.array(anyItem, { minLength: 1, maxLength: 5 }),
  /**
   * How the events of several items interleave. Nearly always one item ends before the next begins.
   */
  order: fc.oneof(fc.constant([]), fc.constant([]), fc.array(fc.nat(9), { maxLength: 30 })),
  ending: fc.constantFrom(
    "completed",
    "completed",
    "completed",
    "max_output_tokens",
    "content_filter",
    "failed",
    "error",
  ),
  /** The number of last events that are missing from a truncated answer. */
  cut: fc.nat(6),
  isQueued: fc.boolean(),
  keepalives: fc.array(fc.nat(99), { maxLength: 2 }),
  usage: fc.option(usage, { nil: undefined }),
  model: fc.constantFrom("recorded", "gpt-9-2026-01-01"),
  hasStatus: fc.boolean(),
  /**
   * Whether an error's fields are nested. OpenAI's documentation puts them in the event, its
   * servers put them one level deeper.
   */
  isNested: fc.boolean(),
});

export const responsesStream = answer.map(toEvents).filter((events) => events !== undefined);

function toEvents(parts) {
  const items = parts.items.map((make, n) => {
    const { type } = make("", 0).begun;
    return { ...make(`${prefixes[type] ?? "item_"}${n}a`, n), output_index: n };
  });
  if (!items.some(isSomething)) return undefined;
  const lists = items.map(({ begun, events, ended, output_index }) => {
    const all = [
      { type: "output_item.added", item: withStatus(begun, parts, "in_progress"), output_index },
      ...events.map((event) => ({ ...event, output_index })),
      { type: "output_item.done", item: withStatus(ended, parts, "completed"), output_index },
    ];
    if (begun.type === "message") return [all];
    const isTold = /\.(?:completed|failed)$/.test(events.at(-1)?.type);
    return isTold ? [...all.slice(0, -2), all.slice(-2)] : all;
  });
  const body = merge(lists, parts.order).flat();
  for (const place of parts.keepalives)
    body.splice(place % (body.length + 1), 0, { type: "keepalive" });
  const [output, sent] = ["completed", "failed", "error"].includes(parts.ending)
    ? [items.map(({ ended }) => withStatus(ended, parts, "completed")), body]
    : cutOff(items, body, parts);
  const begin = ["created", ...(parts.isQueued ? ["queued"] : []), "in_progress"].map((type) => ({
    type,
    response: response(parts, "in_progress", [], null),
  }));
  return [...begin, ...sent, end(parts, output)].map(({ type, ...event }, sequence_number) => {
    const name = ["error", "keepalive"].includes(type) ? type : `response.${type}`;
    return { name, data: { type: name, sequence_number, ...event } };
  });
}

/** Whether this library creates a part for the item. */
function isSomething({ ended }) {
  return (
    ended.type !== "message" || ended.content.some(({ text, refusal }) => (text ?? refusal) !== "")
  );
}

function withStatus(item, { hasStatus }, status) {
  return hasStatus || ["message", "web_search_call", "file_search_call"].includes(item.type)
    ? { ...item, status }
    : item;
}

/**
 * Truncates an answer as a token limit does. The last item ends early. Its received content is in
 * the output, marked as incomplete.
 */
function cutOff(items, body, parts) {
  const last = body.findLast(({ type }) => type === "output_item.added");
  const isOpen =
    parts.cut > 0 && last !== undefined && ["message", "function_call"].includes(last.item.type);
  if (!isOpen) return [items.map(({ ended }) => withStatus(ended, parts, "completed")), body];
  const own = body.filter((event) => event.output_index === last.output_index && event !== last);
  const gone = new Set(own.slice(-parts.cut));
  const sent = body.filter((event) => !gone.has(event));
  const kept = own.filter((event) => !gone.has(event));
  const partial = withStatus(fold(last.item, kept), { hasStatus: true }, "incomplete");
  const output = items.map(({ ended, output_index }) =>
    output_index === last.output_index ? partial : withStatus(ended, parts, "completed"),
  );
  return [output, sent];
}

/** Folds the sent events of a message or a call into its item. */
function fold(begun, events) {
  const item = { ...begun, ...(begun.content && { content: [] }) };
  for (const { type, ...event } of events) {
    const part = item.content?.[event.content_index];
    if (type === "content_part.added" || type === "content_part.done")
      item.content[event.content_index] = { ...event.part };
    else if (type === "output_text.delta") part.text += event.delta;
    else if (type === "refusal.delta") part.refusal += event.delta;
    else if (type === "output_text.annotation.added")
      part.annotations = [...part.annotations, event.annotation];
    else if (type === "function_call_arguments.delta") item.arguments += event.delta;
    else if (type === "function_call_arguments.done") item.arguments = event.arguments;
    else if (type === "output_item.done") return event.item;
  }
  return item;
}

function response({ model, usage: tokens }, status, output, more) {
  const ended = status === "in_progress" ? { usage: null } : { usage: tokens ?? null };
  const details = {
    error: null,
    incomplete_details: null,
    parallel_tool_calls: true,
    text: { format: { type: "text" } },
  };
  return {
    id: "resp_7",
    object: "response",
    created_at: 7,
    status,
    model,
    ...details,
    tools: [],
    output,
    ...ended,
    ...more,
  };
}

function end(parts, output) {
  const { ending } = parts;
  const message = "The server had an error";
  if (ending === "error") {
    const error = { code: "server_error", message, param: null };
    return { type: "error", ...(parts.isNested ? { error } : error) };
  }
  if (ending === "completed") return { type: ending, response: response(parts, ending, output) };
  if (ending === "failed")
    return {
      type: ending,
      response: response(parts, ending, output, { error: { code: "server_error", message } }),
    };
  const details = { incomplete_details: { reason: ending } };
  return { type: "incomplete", response: response(parts, "incomplete", output, details) };
}
