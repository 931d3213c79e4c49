/** Checks the messages of a Chat Completions request by the rules of the strictest servers. */
import { describe, isObject, join, type Json, type Problems } from "./strict-json.ts";

export const toolName: RegExp = /^[A-Za-z0-9_-]{1,64}$/;
/**
 * OpenAI accepts up to 40 characters. Any printable ASCII, because some servers create ids like
 * `functions.read:0`.
 */
// Q119
const callId = /^[\x21-\x7e]{1,40}$/;
/** Field names under which models accept their own thinking. */
// Q082, Q132
const reasoningFields = ["reasoning_content", "reasoning", "reasoning_text", "thinking"];

export function checkMessages(problems: Problems, value: unknown): void {
  const messages = problems.list1("messages", value);
  const ids = new Set<unknown>();
  /** Ids of calls without a result so far, in order. */
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
  let media = 0;
  for (const [index, part] of problems.list1(`${path}.content`, content).entries()) {
    const place = `${path}.content[${index}]`;
    if (isObject(part) && part.type === "image_url") {
      media++;
      checkImage(problems, place, part);
    } else if (isObject(part) && (part.type === "file" || part.type === "input_audio")) {
      media++;
      checkFile(problems, place, part);
    } else {
      const text = problems.object(place, part, ["type", "text"]);
      if (text === undefined) continue;
      problems.oneOf(`${place}.type`, text.type, ["text", "image_url", "file", "input_audio"]);
      problems.text(`${place}.text`, text.text);
    }
  }
  if (media === 0)
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

/** Checks a PDF or an audio. OpenAI takes other files only on the Responses API. */
function checkFile(problems: Problems, path: string, part: Json): void {
  if (part.type === "input_audio") {
    problems.object(path, part, ["type", "input_audio"]);
    const audio = problems.object(`${path}.input_audio`, part.input_audio, ["data", "format"]);
    problems.oneOf(`${path}.input_audio.format`, audio?.format, ["wav", "mp3"]);
    return problems.base64(`${path}.input_audio.data`, audio?.data);
  }
  problems.object(path, part, ["type", "file"]);
  const file = problems.object(`${path}.file`, part.file, ["filename", "file_data"]);
  problems.text(`${path}.file.filename`, file?.filename);
  const url = typeof file?.file_data === "string" ? file.file_data : "";
  const [, mimeType, data] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? [];
  problems.oneOf(`${path}.file.file_data`, mimeType, ["application/pdf"]);
  problems.base64(`${path}.file.file_data`, data);
}

/** Checks an assistant message. Returns the ids of its calls, in order. */
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
  if (ids.has(id)) problems.add(`${path}.id`, `is a duplicate: ${describe(id)} (Q040, Q041)`);
  ids.add(id);
  return String(id);
}

/**
 * Arguments must be the JSON text of an object. Servers that parse them refuse anything else in
 * every later request.
 */
// Q129
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

/** The field in which Gemini expects the signature of a call. */
// Q089
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
