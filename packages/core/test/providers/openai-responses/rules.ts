/**
 * The requests that a Responses server refuses, as far as known. Each rule has broken a real
 * session.
 */

import { Problems } from "../../../src/testing/strict-json.ts";

type Json = Record<string, unknown>;
type Problem = (what: string) => void;

const idPattern = /^[A-Za-z0-9_-]{1,64}$/;
const imagePattern =
  /^data:image\/(?:jpeg|png|gif|webp);base64,[A-Za-z0-9+/]+=*$|^https:\/\/example\.com\//;
const pdfPattern = /^data:application\/pdf;base64,[A-Za-z0-9+/]+=*$/;
const efforts = ["minimal", "low", "medium", "high", "xhigh"];

/**
 * The required and optional fields of each item that this library writes. Other items are the
 * provider's own.
 */
const itemFields: Readonly<Record<string, readonly [readonly string[], readonly string[]]>> = {
  message: [
    ["type", "role", "content"],
    ["id", "phase"],
  ],
  reasoning: [
    ["type", "summary"],
    ["id", "content", "encrypted_content"],
  ],
  function_call: [
    ["type", "call_id", "name", "arguments"],
    ["id", "caller", "namespace"],
  ],
  function_call_output: [["type", "call_id", "output"], ["caller"]],
};
const bodyFields = [
  ["model", "input", "store"],
  [
    "stream",
    "text",
    "instructions",
    "max_output_tokens",
    "temperature",
    "reasoning",
    "include",
    "tools",
    "tool_choice",
    "metadata",
    "prompt_cache_key",
  ],
] as const;

/** The rules that a request breaks; empty for a valid one. */
export function brokenRules(body: Json): string[] {
  const problems: string[] = [];
  const problem: Problem = (what) => problems.push(what);
  checkFields("body", body, bodyFields[0], bodyFields[1], problem);
  checkOptions(body, problem);
  checkTools(body, problem);
  checkInput(body, problem);
  if (/\\ud[89a-f]|\\u0000/i.test(JSON.stringify(body))) problem("a lone surrogate or NUL");
  return problems;
}

function checkFields(
  what: string,
  value: Json,
  required: readonly string[],
  optional: readonly string[],
  problem: Problem,
): void {
  for (const name of required)
    if (value[name] === undefined || value[name] === null) problem(`${what} without ${name}`);
  for (const name of Object.keys(value)) {
    if (!required.includes(name) && !optional.includes(name)) problem(`${what} with ${name}`);
    if (value[name] === undefined || value[name] === null)
      problem(`${what} with nothing as ${name}`);
  }
}

function checkOptions(body: Json, problem: Problem): void {
  if ((body.stream ?? true) !== true || body.store !== false) problem("stream or store");
  if (body.text !== undefined) checkText(body.text as Json, problem);
  const { instructions, max_output_tokens: max, reasoning, include, prompt_cache_key: key } = body;
  if (instructions !== undefined && !isText(instructions)) problem("instructions");
  if (max !== undefined && (!Number.isInteger(max) || (max as number) < 16))
    problem("max_output_tokens");
  if (key !== undefined && (!isText(key) || (key as string).length > 64))
    problem("prompt_cache_key");
  if (reasoning !== undefined) {
    const { effort, summary } = reasoning as Json;
    if (!efforts.includes(effort as string) || summary !== "auto") problem("reasoning");
    if (body.temperature !== undefined) problem("temperature with reasoning");
    if (include === undefined) problem("reasoning that cannot be replayed");
  }
  if (include !== undefined && JSON.stringify(include) !== '["reasoning.encrypted_content"]')
    problem("include");
}

function checkText(text: Json, problem: Problem): void {
  checkFields("text", text, ["format"], [], problem);
  const format = text.format as Json;
  checkFields("format", format, ["type", "name", "schema", "strict"], [], problem);
  if (format.type !== "json_schema" || !idPattern.test(format.name as string)) problem("format");
  const problems = new Problems();
  problems.outputSchema("schema", format.schema, format.strict === true);
  problems.list.forEach(problem);
}

function checkTools({ tools, tool_choice: choice }: Json, problem: Problem): void {
  const list = (tools ?? []) as Json[];
  if (tools !== undefined && list.length === 0) problem("empty tools");
  if (tools === undefined && choice !== undefined) problem("tool_choice without tools");
  if (new Set(list.map(({ name }) => name)).size !== list.length) problem("tool name twice");
  for (const tool of list) {
    checkFields("tool", tool, ["type", "name", "description", "parameters", "strict"], [], problem);
    if (tool.type !== "function" || tool.strict !== false) problem("tool type or strict");
    if (!idPattern.test(tool.name as string)) problem("tool name");
    if ((tool.parameters as Json).type !== "object") problem("tool schema");
  }
  if (typeof choice === "object") {
    checkFields("tool_choice", choice as Json, ["type", "name"], [], problem);
    if (!idPattern.test((choice as Json).name as string)) problem("tool_choice name");
  } else if (choice !== undefined && !["auto", "none", "required"].includes(choice as string))
    problem("tool_choice");
}

function checkInput(body: Json, problem: Problem): void {
  const input = body.input as Json[];
  if (!Array.isArray(input) || input.length === 0) return problem("no input");
  /** Calls by id, and whether each has its output, including those of the provider's own items. */
  const calls = new Map<unknown, boolean>();
  let waiting: unknown[] = [];
  for (const [index, item] of input.entries()) {
    const type = item.type as string;
    const fields = itemFields[type];
    if (fields !== undefined) checkFields(type, item, fields[0], fields[1], problem);
    if (type.endsWith("_output") && typeof item.call_id === "string") {
      if (calls.get(item.call_id) !== false) problem("output without its call, or a second one");
      calls.set(item.call_id, true);
    } else if (typeof item.call_id === "string") {
      if (calls.has(item.call_id)) problem("call id twice");
      calls.set(item.call_id, false);
    }
    switch (type) {
      case "message":
        checkMessage(item, problem);
        if (item.role === "user" && waiting.length > 0)
          problem("a user's message before the outputs");
        break;
      case "reasoning":
        checkReasoning(item, input[index + 1], problem);
        break;
      case "function_call":
        checkCall(item, problem);
        waiting.push(item.call_id);
        break;
      case "function_call_output":
        if (waiting[0] !== item.call_id) problem("outputs not in the order of the calls");
        waiting = waiting.slice(1);
        checkOutput(item.output, problem);
        break;
    }
  }
  if ([...calls.values()].includes(false)) problem("call without its output");
}

function checkMessage({ role, content, id, phase }: Json, problem: Problem): void {
  if (id !== undefined) problem("id of a message that was not stored");
  if (phase !== undefined && typeof phase !== "string") problem("phase");
  const parts = content as Json[];
  if (!Array.isArray(parts) || parts.length === 0) return problem("empty message");
  for (const part of parts) {
    if (role === "user") checkPart(part, problem);
    else if (role !== "assistant" || part.type !== "output_text")
      problem(`a ${String(role)}'s ${String(part.type)}`);
    else if (!isText(part.text) || !Array.isArray(part.annotations)) problem("output_text");
  }
}

function checkPart(part: Json, problem: Problem): void {
  if (part.type === "input_text") {
    if (!isText(part.text)) problem("empty text");
  } else if (part.type === "input_image") {
    if (!imagePattern.test(part.image_url as string) || part.detail !== "auto") problem("image");
  } else if (part.type === "input_file") {
    if (!pdfPattern.test(part.file_data as string) || !isText(part.filename)) problem("file");
  } else problem(`a user's ${String(part.type)}`);
}

function checkReasoning(item: Json, next: Json | undefined, problem: Problem): void {
  if (item.id !== undefined) problem("id of reasoning that was not stored");
  if (
    item.encrypted_content === undefined &&
    item.content === undefined &&
    (item.summary as unknown[]).length === 0
  )
    problem("reasoning with nothing in it");
  if (item.encrypted_content !== undefined && !isText(item.encrypted_content))
    problem("encrypted_content");
  const isFollowed =
    next !== undefined && next.type !== "function_call_output" && next.role !== "user";
  if (!isFollowed) problem("reasoning without the item that follows it");
}

function checkCall({ call_id: callId, name, arguments: args, id }: Json, problem: Problem): void {
  if (id !== undefined) problem("id of a call that was not stored");
  if (!idPattern.test(callId as string)) problem("call id");
  if (!idPattern.test(name as string)) problem("call name");
  const value: unknown = typeof args === "string" ? JSON.parse(args) : undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    problem("arguments are no object");
  if (/\\ud[89a-f]|\\u0000/i.test(JSON.stringify(value) ?? ""))
    problem("a lone surrogate or NUL in arguments");
}

function checkOutput(output: unknown, problem: Problem): void {
  if (!Array.isArray(output)) return isText(output) ? undefined : problem("output");
  if (output.every((part: Json) => part.type === "input_text"))
    problem("output of text only as parts");
  for (const part of output) checkPart(part as Json, problem);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "";
}
