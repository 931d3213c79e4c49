/** For each wire, the fields that hold an index or id, and those that end the answer. */
import type { Wire } from "./acceptors/accept.ts";
import { parseJsonText, type JsonNode } from "./json-text.ts";

interface Targets {
  /** Paths of indices and ids; `*` stands for any position in a list. */
  readonly places: readonly string[];
  /** Paths of finish reasons. A `type` counts only with one of the values in `endTypes`. */
  readonly ends: readonly string[];
  readonly endTypes: readonly string[];
  /** The fields to empty in a copy that only has another finish reason. */
  readonly content: readonly string[];
  /** Finish reasons that the wire does not know. */
  readonly unknownEnds: readonly string[];
  /** An error in the form of the wire. */
  readonly error: string;
}

export const targets: { readonly [wire in Wire]: Targets } = {
  "openai-chat": {
    places: [
      "id",
      "choices.*.index",
      "choices.*.delta.tool_calls.*.index",
      "choices.*.delta.tool_calls.*.id",
    ],
    ends: ["choices.*.finish_reason"],
    endTypes: [],
    content: ["choices.*.delta"],
    unknownEnds: ["cancelled", "time_limit", "guardrail_intervened"],
    error: 'data: {"error":{"message":"The server had an error","type":"server_error"}}\n\n',
  },
  "anthropic-messages": {
    places: ["message.id", "index", "content_block.id", "content_block.tool_use_id"],
    ends: ["delta.stop_reason"],
    endTypes: ["message_stop"],
    content: [],
    unknownEnds: ["cancelled", "time_limit", "guardrail_intervened"],
    error:
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
  },
  "openai-responses": {
    places: [
      "sequence_number",
      "output_index",
      "content_index",
      "summary_index",
      "item_id",
      "item.id",
      "item.call_id",
      "response.id",
      "response.output.*.id",
      "response.output.*.call_id",
    ],
    ends: ["response.status"],
    endTypes: ["response.completed", "response.incomplete", "response.failed"],
    content: [],
    unknownEnds: ["cancelled", "paused", "finished"],
    error:
      'event: error\ndata: {"type":"error","code":"server_error","message":"The server had an error","param":null}\n\n',
  },
  "google-generate": {
    places: ["responseId", "candidates.*.index", "candidates.*.content.parts.*.functionCall.id"],
    ends: ["candidates.*.finishReason"],
    endTypes: [],
    content: ["candidates.*.content"],
    unknownEnds: ["CANCELLED", "TIME_LIMIT", "FINISH_REASON_UNSPECIFIED"],
    error:
      'data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}\n\n',
  },
};

/** A value in an event's data, with its path. */
export interface Place {
  readonly path: string;
  readonly node: JsonNode;
}

/** Returns the indices and ids of an event. */
export function placesOf(wire: Wire, data: string): Place[] {
  return find(data, targets[wire].places).filter(
    ({ node }) => node.kind === "number" || node.kind === "string",
  );
}

/** Returns the values of an event that end the answer. */
export function endsOf(wire: Wire, data: string): Place[] {
  const { ends, endTypes } = targets[wire];
  const [type] = find(data, ["type"]);
  const isLast = type?.node.kind === "string" && endTypes.includes(type.node.value);
  const isOfResponse = wire !== "openai-responses" || isLast;
  const words = isOfResponse ? find(data, ends).filter(({ node }) => node.kind === "string") : [];
  return isLast && type ? [...words, type] : words;
}

/** Returns the values at paths in which `*` stands for any position in a list. */
export function find(data: string, patterns: readonly string[]): Place[] {
  const root = parseJsonText(data);
  if (root === undefined) return [];
  return patterns.flatMap((pattern) => descend(root, pattern.split("."), []));
}

function descend(node: JsonNode, [key, ...rest]: string[], path: string[]): Place[] {
  if (key === undefined) return [{ path: path.join("."), node }];
  if (key === "*" && node.kind === "array")
    return node.items.flatMap((item, n) => descend(item, rest, [...path, String(n)]));
  if (node.kind === "array") {
    const item = node.items[Number(key)];
    return item === undefined ? [] : descend(item, rest, [...path, key]);
  }
  const child = node.kind === "object" ? node.entries.get(key) : undefined;
  return child === undefined ? [] : descend(child, rest, [...path, key]);
}
