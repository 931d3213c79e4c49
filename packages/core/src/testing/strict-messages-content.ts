/** Checks the messages of a Messages request by the rules of the strictest servers. */
import { describe, isObject, type Json, type Problems } from "./strict-json.ts";

export const toolName: RegExp = /^[A-Za-z0-9_-]{1,128}$/;
const callId = /^[A-Za-z0-9_-]{1,64}$/;

export function checkMessages(problems: Problems, request: Json): void {
  const messages = problems.list1("messages", request.messages);
  const ids = new Set<unknown>();
  /** Ids of the previous message's calls, which this message must answer. */
  let open: readonly string[] = [];
  for (const [index, entry] of messages.entries()) {
    const path = `messages[${index}]`;
    const message = problems.object(path, entry, ["role", "content"]);
    if (message === undefined) continue;
    const role = index % 2 === 0 ? "user" : "assistant";
    if (message.role !== role)
      problems.add(`${path}.role`, `must be "${role}": the two alternate, the user begins (Q170)`);
    if (message.role === "assistant") {
      if (open.length > 0)
        problems.add(path, `comes before the results of ${open.join(", ")} (Q127)`);
      open = checkAssistant(problems, path, message.content, ids);
    } else {
      checkUser(problems, path, message.content, open);
      open = [];
    }
  }
  if (open.length > 0)
    problems.add("messages", `end before the results of ${open.join(", ")} (Q127)`);
  const last = messages.at(-1);
  if (isObject(last) && last.role === "assistant")
    problems.add("messages", "must not end with the assistant's (Q126, Q173)");
  if (ids.size > 0 && !("tools" in request))
    problems.add("tools", "is required where the history holds tool calls (Q111)");
}

/** Checks an assistant message. Returns the ids of its calls, in order. */
function checkAssistant(
  problems: Problems,
  path: string,
  content: unknown,
  ids: Set<unknown>,
): string[] {
  if (!Array.isArray(content)) {
    problems.text(`${path}.content`, content);
    return [];
  }
  const own: string[] = [];
  for (const [index, block] of problems.list1(`${path}.content`, content).entries()) {
    const place = `${path}.content[${index}]`;
    const type = isObject(block) ? block.type : undefined;
    if (type === "text") checkText(problems, place, block);
    else if (type === "thinking") {
      const thinking = problems.object(place, block, ["type", "thinking", "signature"]);
      if (typeof thinking?.thinking !== "string") problems.add(`${place}.thinking`, "must be text");
      problems.text(`${place}.signature`, thinking?.signature);
    } else if (type === "redacted_thinking") {
      const redacted = problems.object(place, block, ["type", "data"]);
      problems.text(`${place}.data`, redacted?.data);
    } else if (type === "tool_use") own.push(checkCall(problems, place, block, ids));
    else if (!isServerBlock(type))
      problems.add(`${place}.type`, `is not a block of an assistant: ${describe(type)}`);
  }
  return own;
}

/** Returns whether a block belongs to the provider. Its fields are not checked. */
// Q161
function isServerBlock(type: unknown): boolean {
  return (
    typeof type === "string" &&
    (type.endsWith("_tool_result") ||
      ["server_tool_use", "mcp_tool_use", "container_upload", "compaction"].includes(type))
  );
}

function checkCall(problems: Problems, path: string, block: unknown, ids: Set<unknown>): string {
  const call =
    problems.object(path, block, ["type", "id", "name", "input"], ["cache_control"]) ?? {};
  problems.matches(`${path}.id`, call.id, callId);
  if (ids.has(call.id)) problems.add(`${path}.id`, `is a duplicate: ${describe(call.id)} (Q177)`);
  ids.add(call.id);
  problems.matches(`${path}.name`, call.name, toolName);
  if (!isObject(call.input))
    problems.add(`${path}.input`, `must be an object, not ${describe(call.input)}`);
  return String(call.id);
}

/** Checks a user message: all results of the turn come first and in order, then other content. */
// Q168
function checkUser(
  problems: Problems,
  path: string,
  content: unknown,
  open: readonly string[],
): void {
  const blocks = Array.isArray(content) ? problems.list1(`${path}.content`, content) : [];
  if (!Array.isArray(content)) problems.text(`${path}.content`, content);
  const results = blocks.filter((block) => isObject(block) && block.type === "tool_result");
  for (const id of open.slice(results.length)) {
    problems.add(path, `lacks the result of ${describe(id)}, called in the message before (Q127)`);
  }
  for (const [index, block] of blocks.entries()) {
    const place = `${path}.content[${index}]`;
    if (!isObject(block) || block.type !== "tool_result") {
      checkPart(problems, place, block);
      continue;
    }
    if (index > 0 && !results.includes(blocks[index - 1]))
      problems.add(place, "must come before all other content (Q168)");
    checkResult(problems, place, block, open[results.indexOf(block)]);
  }
}

function checkResult(
  problems: Problems,
  path: string,
  block: Json,
  expected: string | undefined,
): void {
  problems.object(path, block, ["type", "tool_use_id"], ["content", "is_error", "cache_control"]);
  const { tool_use_id: id, content } = block;
  if (expected === undefined)
    problems.add(path, `answers no call of the message before: ${describe(id)} (Q127)`);
  else if (id !== expected)
    problems.add(
      path,
      `answers ${describe(id)} where the result of ${describe(expected)} is due (Q127)`,
    );
  if ("is_error" in block) problems.oneOf(`${path}.is_error`, block.is_error, [true, false]);
  if (!("content" in block)) return;
  if (!Array.isArray(content)) return problems.text(`${path}.content`, content);
  for (const [index, part] of problems.list1(`${path}.content`, content).entries()) {
    checkPart(problems, `${path}.content[${index}]`, part);
  }
}

/** Checks a text, an image or a document of a user message or a result. */
function checkPart(problems: Problems, path: string, part: unknown): void {
  if (isObject(part) && part.type === "document") return checkDocument(problems, path, part);
  if (!isObject(part) || part.type !== "image") return checkText(problems, path, part);
  problems.object(path, part, ["type", "source"], ["cache_control"]);
  if (isObject(part.source) && part.source.type === "url")
    return problems.text(`${path}.source.url`, part.source.url);
  const source = problems.object(`${path}.source`, part.source, ["type", "media_type", "data"]);
  if (source === undefined) return;
  problems.oneOf(`${path}.source.type`, source.type, ["base64", "url"]);
  problems.image(`${path}.source`, source.media_type, source.data);
}

function checkDocument(problems: Problems, path: string, part: Json): void {
  problems.object(
    path,
    part,
    ["type", "source"],
    ["title", "context", "citations", "cache_control"],
  );
  if ("title" in part) problems.text(`${path}.title`, part.title);
  const place = `${path}.source`;
  const type = isObject(part.source) ? part.source.type : undefined;
  problems.oneOf(`${place}.type`, type, ["base64", "text", "url"]);
  if (type === "url") {
    const source = problems.object(place, part.source, ["type", "url"]);
    return problems.matches(`${place}.url`, source?.url, /^https?:/);
  }
  const source = problems.object(place, part.source, ["type", "media_type", "data"]);
  const isText = type === "text";
  problems.oneOf(`${place}.media_type`, source?.media_type, [
    isText ? "text/plain" : "application/pdf",
  ]);
  if (isText) problems.text(`${place}.data`, source?.data);
  else problems.base64(`${place}.data`, source?.data);
}

export function checkText(problems: Problems, path: string, value: unknown): void {
  const block = problems.object(path, value, ["type", "text"], ["cache_control", "citations"]);
  if (block === undefined) return;
  problems.oneOf(`${path}.type`, block.type, ["text"]);
  problems.text(`${path}.text`, block.text);
}
