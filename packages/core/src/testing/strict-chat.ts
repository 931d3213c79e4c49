/**
 * A Chat Completions request as the strictest servers read it: what the reference asks for, and
 * what servers are known to refuse. For test servers and tests of encoders.
 */
import { describe, isObject, join, Problems, type Json } from "./strict-json.ts";

const toolName = /^[A-Za-z0-9_-]{1,64}$/;
/**
 * OpenAI takes 40 characters; printable ASCII, since some servers make ids like `functions.read:0`
 * (Q119).
 */
const callId = /^[\x21-\x7e]{1,40}$/;
/** What thinking models send back under the name they chose (Q082, Q132). */
const reasoningFields = ["reasoning_content", "reasoning", "reasoning_text", "thinking"];

/** The dialects in which thinking is asked for (Q134). */
const thinkingFields = [
  "reasoning_effort",
  "reasoning",
  "thinking",
  "enable_thinking",
  "chat_template_kwargs",
];

const optionalFields = [
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "metadata",
  "response_format",
  "prompt_cache_key",
  "session_id",
  ...thinkingFields,
];

/**
 * What is wrong with the body of a Chat Completions request, streamed or not; nothing when it is
 * fine.
 */
export function checkChatRequest(body: unknown): string[] {
  const problems = new Problems();
  const request = problems.object("", body, ["model", "messages"], optionalFields);
  if (request === undefined) return problems.list;
  problems.everyString("", body);
  problems.text("model", request.model);
  if ("stream" in request) problems.oneOf("stream", request.stream, [true]);
  else if ("stream_options" in request) problems.add("stream_options", "is refused without stream");
  checkOptions(problems, request);
  checkTools(problems, request);
  checkMessages(problems, request.messages);
  return problems.list;
}

function checkOptions(problems: Problems, request: Json): void {
  if ("stream_options" in request) {
    const options = problems.object("stream_options", request.stream_options, ["include_usage"]);
    if (options !== undefined)
      problems.oneOf("stream_options.include_usage", options.include_usage, [true]);
  }
  for (const name of ["max_tokens", "max_completion_tokens"]) {
    if (name in request) problems.wholeNumber(name, request[name], 1);
  }
  if ("max_tokens" in request && "max_completion_tokens" in request) {
    problems.add("max_tokens", "and max_completion_tokens are one option: send one of them (Q105)");
  }
  if ("temperature" in request) problems.number("temperature", request.temperature, 0, 2);
  for (const name of ["prompt_cache_key", "session_id"]) {
    if (name in request) problems.matches(name, request[name], /^\S{1,64}$/);
  }
  if ("response_format" in request) checkFormat(problems, request.response_format);
  if ("metadata" in request) {
    const metadata = request.metadata;
    if (!isObject(metadata))
      problems.add("metadata", `must be an object, not ${describe(metadata)}`);
    else if (!Object.values(metadata).every((value) => typeof value === "string")) {
      problems.add("metadata", "must hold strings only");
    }
  }
  checkThinking(problems, request);
}

/** An answer held to a schema. */
function checkFormat(problems: Problems, value: unknown): void {
  const format = problems.object("response_format", value, ["type", "json_schema"]);
  if (format === undefined) return;
  problems.oneOf("response_format.type", format.type, ["json_schema"]);
  const path = "response_format.json_schema";
  const json = problems.object(
    path,
    format.json_schema,
    ["name", "schema"],
    ["strict", "description"],
  );
  if (json === undefined) return;
  problems.matches(`${path}.name`, json.name, toolName);
  if ("strict" in json) problems.oneOf(`${path}.strict`, json.strict, [true, false]);
  problems.outputSchema(`${path}.schema`, json.schema, json.strict === true);
}

/** One switch, in the dialect of the target (Q134). */
function checkThinking(problems: Problems, request: Json): void {
  const efforts = ["none", "minimal", "low", "medium", "high", "xhigh"];
  const used = thinkingFields.filter((name) => name in request);
  if (used.length > 1)
    problems.add(
      used[0] ?? "",
      `and ${used.slice(1).join(", ")} ask for one thing: send one of them`,
    );
  if ("reasoning_effort" in request)
    problems.oneOf("reasoning_effort", request.reasoning_effort, efforts);
  if ("reasoning" in request) {
    const reasoning = problems.object("reasoning", request.reasoning, [], ["effort", "max_tokens"]);
    if (reasoning !== undefined && "effort" in reasoning)
      problems.oneOf("reasoning.effort", reasoning.effort, efforts);
  }
  if ("thinking" in request) {
    const thinking = problems.object("thinking", request.thinking, ["type"]);
    if (thinking !== undefined)
      problems.oneOf("thinking.type", thinking.type, ["enabled", "disabled"]);
  }
  if ("enable_thinking" in request)
    problems.oneOf("enable_thinking", request.enable_thinking, [true, false]);
  if ("chat_template_kwargs" in request) {
    const words = problems.object("chat_template_kwargs", request.chat_template_kwargs, [
      "enable_thinking",
    ]);
    if (words !== undefined)
      problems.oneOf("chat_template_kwargs.enable_thinking", words.enable_thinking, [true, false]);
  }
}

function checkTools(problems: Problems, request: Json): void {
  if (!("tools" in request)) {
    for (const name of ["tool_choice", "parallel_tool_calls"]) {
      if (name in request) problems.add(name, "is refused without tools (Q109)");
    }
    return;
  }
  const names: unknown[] = [];
  for (const [index, entry] of problems.list1("tools", request.tools).entries()) {
    const path = `tools[${index}]`;
    const tool = problems.object(path, entry, ["type", "function"]);
    if (tool === undefined) continue;
    problems.oneOf(`${path}.type`, tool.type, ["function"]);
    const fn = problems.object(
      `${path}.function`,
      tool.function,
      ["name", "parameters"],
      ["description", "strict"],
    );
    if (fn === undefined) continue;
    problems.matches(`${path}.function.name`, fn.name, toolName);
    if (names.includes(fn.name))
      problems.add(`${path}.function.name`, `is there twice: ${describe(fn.name)}`);
    names.push(fn.name);
    if ("description" in fn && typeof fn.description !== "string")
      problems.add(`${path}.function.description`, "must be text");
    problems.toolSchema(`${path}.function.parameters`, fn.parameters);
  }
  if ("parallel_tool_calls" in request)
    problems.oneOf("parallel_tool_calls", request.parallel_tool_calls, [true, false]);
  if (!("tool_choice" in request)) return;
  const choice = request.tool_choice;
  if (!isObject(choice)) return problems.oneOf("tool_choice", choice, ["auto", "none", "required"]);
  problems.object("tool_choice", choice, ["type", "function"]);
  problems.oneOf("tool_choice.type", choice.type, ["function"]);
  const named = problems.object("tool_choice.function", choice.function, ["name"]);
  if (named !== undefined) problems.oneOf("tool_choice.function.name", named.name, names);
}

function checkMessages(problems: Problems, value: unknown): void {
  const messages = problems.list1("messages", value);
  const ids = new Set<unknown>();
  /** Calls that wait for their result, in order. */
  let open: string[] = [];
  for (const [index, entry] of messages.entries()) {
    const path = `messages[${index}]`;
    if (!isObject(entry)) {
      problems.add(path, `must be an object, not ${describe(entry)}`);
      continue;
    }
    if (entry.role === "tool") {
      checkResult(problems, path, entry, open);
      open = open.slice(1);
      continue;
    }
    if (open.length > 0)
      problems.add(path, `comes before the results of ${open.join(", ")} (Q127)`);
    open = [];
    if (entry.role === "user") checkUser(problems, path, entry);
    else if (entry.role === "assistant") open = checkAssistant(problems, path, entry, ids);
    else checkSystem(problems, path, entry, index);
  }
  if (open.length > 0)
    problems.add("messages", `end before the results of ${open.join(", ")} (Q127)`);
  const last = messages.at(-1);
  if (isObject(last) && !["user", "tool"].includes(last.role as string)) {
    problems.add(
      "messages",
      `must end with a user's message or a result, not with role ${describe(last.role)} (Q126)`,
    );
  }
}

function checkSystem(problems: Problems, path: string, message: Json, index: number): void {
  problems.oneOf(`${path}.role`, message.role, [
    "system",
    "developer",
    "user",
    "assistant",
    "tool",
  ]);
  problems.object(path, message, ["role", "content"]);
  problems.text(`${path}.content`, message.content);
  if (index > 0) problems.add(path, "is a system message that is not the first (Q125)");
}

function checkUser(problems: Problems, path: string, message: Json): void {
  problems.object(path, message, ["role", "content"]);
  const { content } = message;
  if (!Array.isArray(content)) return problems.text(`${path}.content`, content);
  let images = 0;
  for (const [index, part] of problems.list1(`${path}.content`, content).entries()) {
    const place = `${path}.content[${index}]`;
    if (isObject(part) && part.type === "image_url") {
      images++;
      checkImage(problems, place, part);
    } else {
      const text = problems.object(place, part, ["type", "text"]);
      if (text === undefined) continue;
      problems.oneOf(`${place}.type`, text.type, ["text", "image_url"]);
      problems.text(`${place}.text`, text.text);
    }
  }
  if (images === 0)
    problems.add(`${path}.content`, "must be a plain string when it is text only (Q122)");
}

function checkImage(problems: Problems, path: string, part: Json): void {
  problems.object(path, part, ["type", "image_url"]);
  const image = problems.object(`${path}.image_url`, part.image_url, ["url"], ["detail"]);
  if (image === undefined || (typeof image.url === "string" && image.url.startsWith("https://")))
    return;
  const [, mimeType, data] = /^data:([^;,]*);base64,(.*)$/s.exec(String(image.url)) ?? [];
  problems.image(`${path}.image_url.url`, mimeType, data);
}

/** Returns the ids of its calls, in order. */
function checkAssistant(
  problems: Problems,
  path: string,
  message: Json,
  ids: Set<unknown>,
): string[] {
  problems.object(path, message, ["role", "content"], ["tool_calls", ...reasoningFields]);
  for (const field of reasoningFields) {
    if (field in message && typeof message[field] !== "string")
      problems.add(`${path}.${field}`, "must be text");
  }
  if (message.content !== null || !("tool_calls" in message))
    problems.text(`${path}.content`, message.content);
  if (!("tool_calls" in message)) return [];
  const own: string[] = [];
  for (const [index, entry] of problems.list1(`${path}.tool_calls`, message.tool_calls).entries()) {
    const place = `${path}.tool_calls[${index}]`;
    const call = problems.object(place, entry, ["id", "type", "function"], ["extra_content"]);
    if (call === undefined) continue;
    own.push(checkId(problems, place, call.id, ids));
    problems.oneOf(`${place}.type`, call.type, ["function"]);
    const fn = problems.object(`${place}.function`, call.function, ["name", "arguments"]);
    if (fn === undefined) continue;
    problems.matches(`${place}.function.name`, fn.name, toolName);
    checkArguments(problems, `${place}.function.arguments`, fn.arguments);
    if ("extra_content" in call)
      checkSignature(problems, `${place}.extra_content`, call.extra_content);
  }
  return own;
}

function checkId(problems: Problems, path: string, id: unknown, ids: Set<unknown>): string {
  problems.matches(`${path}.id`, id, callId);
  if (ids.has(id)) problems.add(`${path}.id`, `is there twice: ${describe(id)} (Q040, Q041)`);
  ids.add(id);
  return String(id);
}

/**
 * JSON text of an object: anything else is refused for ever after by servers that parse it (Q129).
 */
function checkArguments(problems: Problems, path: string, value: unknown): void {
  if (typeof value !== "string")
    return problems.add(path, `must be JSON text, not ${describe(value)}`);
  try {
    const parsed: unknown = JSON.parse(value);
    if (!isObject(parsed))
      problems.add(path, `must be the JSON of an object, not of ${describe(parsed)}`);
    problems.everyString(path, parsed);
  } catch {
    problems.add(path, `must be JSON: ${describe(value)}`);
  }
}

/** Where Gemini looks for the signature of a call (Q089). */
function checkSignature(problems: Problems, path: string, value: unknown): void {
  const extra = problems.object(path, value, ["google"]);
  const google =
    extra && problems.object(join(path, "google"), extra.google, ["thought_signature"]);
  if (google !== undefined)
    problems.text(`${path}.google.thought_signature`, google.thought_signature);
}

function checkResult(
  problems: Problems,
  path: string,
  message: Json,
  open: readonly string[],
): void {
  problems.object(path, message, ["role", "tool_call_id", "content"]);
  problems.text(`${path}.content`, message.content);
  const [expected] = open;
  if (expected === undefined)
    problems.add(path, `answers no call: ${describe(message.tool_call_id)} (Q127)`);
  else if (message.tool_call_id !== expected) {
    problems.add(
      path,
      `answers ${describe(message.tool_call_id)} where the result of ${describe(expected)} is due (Q127)`,
    );
  }
}
