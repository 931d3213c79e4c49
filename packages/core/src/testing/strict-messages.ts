/**
 * An Anthropic Messages request as the strictest servers read it: what the reference asks for, and
 * what servers are known to refuse. For test servers and tests of encoders.
 */
import { describe, isObject, Problems, schemasIn, type Json } from "./strict-json.ts";

const toolName = /^[A-Za-z0-9_-]{1,128}$/;
const callId = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_CACHE_MARKS = 4;
const MIN_THINKING_BUDGET = 1024;
/** What may stand in the schema of an answer. */
const formatWords: readonly string[] = (
  "$defs $ref definitions type title description enum const format anyOf allOf items minItems " +
  "properties required additionalProperties"
).split(" ");

/** What is wrong with the body of a Messages request, streamed or not; nothing when it is fine. */
export function checkMessagesRequest(body: unknown): string[] {
  const problems = new Problems();
  const optional = [
    "stream",
    "system",
    "temperature",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "metadata",
  ];
  const request = problems.object("", body, ["model", "messages", "max_tokens"], optional);
  if (request === undefined) return problems.list;
  problems.everyString("", body);
  problems.text("model", request.model);
  problems.wholeNumber("max_tokens", request.max_tokens, 1);
  if ("stream" in request) problems.oneOf("stream", request.stream, [true]);
  if ("system" in request) checkSystem(problems, request.system);
  if ("metadata" in request) {
    const metadata = problems.object("metadata", request.metadata, [], ["user_id"]);
    if (metadata !== undefined && "user_id" in metadata)
      problems.text("metadata.user_id", metadata.user_id);
  }
  checkThinking(problems, request);
  checkTools(problems, request);
  checkMessages(problems, request);
  checkCacheMarks(problems, request);
  return problems.list;
}

function checkSystem(problems: Problems, system: unknown): void {
  if (!Array.isArray(system)) return problems.text("system", system);
  for (const [index, block] of problems.list1("system", system).entries())
    checkText(problems, `system[${index}]`, block);
}

function checkText(problems: Problems, path: string, value: unknown): void {
  const block = problems.object(path, value, ["type", "text"], ["cache_control", "citations"]);
  if (block === undefined) return;
  problems.oneOf(`${path}.type`, block.type, ["text"]);
  problems.text(`${path}.text`, block.text);
}

/**
 * The budget is part of `max_tokens` (Q175); a thinking model samples as it likes and is not forced
 * to a tool (Q113).
 */
function checkThinking(problems: Problems, request: Json): void {
  const { thinking, temperature, tool_choice: choice } = request;
  if ("temperature" in request) problems.number("temperature", temperature, 0, 1);
  if ("output_config" in request) {
    const config = problems.object(
      "output_config",
      request.output_config,
      [],
      ["effort", "format"],
    );
    if (config !== undefined && "effort" in config) {
      problems.oneOf("output_config.effort", config.effort, [
        "low",
        "medium",
        "high",
        "xhigh",
        "max",
      ]);
    }
    if (config !== undefined && "format" in config) checkFormat(problems, config.format);
  }
  if (!("thinking" in request)) return;
  if (!isObject(thinking))
    return problems.add("thinking", `must be an object, not ${describe(thinking)}`);
  problems.oneOf("thinking.type", thinking.type, ["enabled", "adaptive", "disabled"]);
  problems.object(
    "thinking",
    thinking,
    thinking.type === "enabled" ? ["type", "budget_tokens"] : ["type"],
    ["display"],
  );
  if (thinking.type === "enabled") {
    problems.wholeNumber("thinking.budget_tokens", thinking.budget_tokens, MIN_THINKING_BUDGET);
    if (!(Number(thinking.budget_tokens) < Number(request.max_tokens))) {
      problems.add(
        "thinking.budget_tokens",
        `must be below max_tokens, which is ${describe(request.max_tokens)} (Q175)`,
      );
    }
  }
  if (thinking.type === "disabled") return;
  if ("temperature" in request && temperature !== 1)
    problems.add("temperature", "is refused with thinking (Q113)");
  if (isObject(choice) && choice.type !== "auto" && choice.type !== "none") {
    problems.add("tool_choice.type", `${describe(choice.type)} is refused with thinking`);
  }
}

/** An answer held to a schema, of the words that the server knows, every object closed. */
function checkFormat(problems: Problems, value: unknown): void {
  const path = "output_config.format";
  const format = problems.object(path, value, ["type", "schema"]);
  if (format === undefined) return;
  problems.oneOf(`${path}.type`, format.type, ["json_schema"]);
  problems.outputSchema(`${path}.schema`, format.schema, false);
  if (isObject(format.schema)) checkClosed(problems, `${path}.schema`, format.schema);
}

function checkClosed(problems: Problems, path: string, schema: Json): void {
  for (const word of Object.keys(schema)) {
    if (!formatWords.includes(word))
      problems.add(`${path}.${word}`, "is refused in output_config.format");
  }
  if (
    (schema.type === "object" || "properties" in schema) &&
    schema.additionalProperties !== false
  ) {
    problems.add(path, "must have additionalProperties false");
  }
  for (const [place, inner] of schemasIn(path, schema)) checkClosed(problems, place, inner);
}

function checkTools(problems: Problems, request: Json): void {
  if (!("tools" in request)) {
    if ("tool_choice" in request) problems.add("tool_choice", "is refused without tools (Q109)");
    return;
  }
  const names: unknown[] = [];
  for (const [index, entry] of problems.list1("tools", request.tools).entries()) {
    const path = `tools[${index}]`;
    const tool = problems.object(
      path,
      entry,
      ["name", "input_schema"],
      ["description", "cache_control", "type"],
    );
    if (tool === undefined) continue;
    problems.matches(`${path}.name`, tool.name, toolName);
    if (names.includes(tool.name))
      problems.add(`${path}.name`, `is there twice: ${describe(tool.name)}`);
    names.push(tool.name);
    if ("type" in tool) problems.oneOf(`${path}.type`, tool.type, ["custom"]);
    if ("description" in tool && typeof tool.description !== "string")
      problems.add(`${path}.description`, "must be text");
    problems.toolSchema(`${path}.input_schema`, tool.input_schema);
  }
  if (!("tool_choice" in request)) return;
  const choice = problems.object(
    "tool_choice",
    request.tool_choice,
    ["type"],
    ["name", "disable_parallel_tool_use"],
  );
  if (choice === undefined) return;
  problems.oneOf("tool_choice.type", choice.type, ["auto", "any", "none", "tool"]);
  if (choice.type === "tool") problems.oneOf("tool_choice.name", choice.name, names);
  else if ("name" in choice) problems.add("tool_choice.name", 'belongs to type "tool" only');
}

function checkMessages(problems: Problems, request: Json): void {
  const messages = problems.list1("messages", request.messages);
  const ids = new Set<unknown>();
  /** Calls of the message before, which this one must answer. */
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

/** Returns the ids of its calls, in order. */
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
      problems.add(`${place}.type`, `is no block of an assistant: ${describe(type)}`);
  }
  return own;
}

/** A provider's own block; its fields are the provider's business (Q161). */
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
  if (ids.has(call.id)) problems.add(`${path}.id`, `is there twice: ${describe(call.id)} (Q177)`);
  ids.add(call.id);
  problems.matches(`${path}.name`, call.name, toolName);
  if (!isObject(call.input))
    problems.add(`${path}.input`, `must be an object, not ${describe(call.input)}`);
  return String(call.id);
}

/** All results of the turn come first, in order, then what else the user has to say (Q168). */
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

/** Text or an image, as a user and a result may hold them. */
function checkPart(problems: Problems, path: string, part: unknown): void {
  if (!isObject(part) || part.type !== "image") return checkText(problems, path, part);
  problems.object(path, part, ["type", "source"], ["cache_control"]);
  if (isObject(part.source) && part.source.type === "url")
    return problems.text(`${path}.source.url`, part.source.url);
  const source = problems.object(`${path}.source`, part.source, ["type", "media_type", "data"]);
  if (source === undefined) return;
  problems.oneOf(`${path}.source.type`, source.type, ["base64", "url"]);
  problems.image(`${path}.source`, source.media_type, source.data);
}

/** At most four, and the long ones first (Q174). */
function checkCacheMarks(problems: Problems, request: Json): void {
  const marks: string[] = [];
  const visit = (path: string, value: unknown): void => {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(`${path}[${index}]`, item);
    } else if (isObject(value)) {
      if ("cache_control" in value) checkCacheMark(problems, path, value.cache_control, marks);
      visit(`${path}.content`, value.content);
    }
  };
  visit("tools", request.tools);
  visit("system", request.system);
  visit("messages", request.messages);
  if (marks.length > MAX_CACHE_MARKS) {
    problems.add(
      "cache_control",
      `is there ${marks.length} times; ${MAX_CACHE_MARKS} are allowed (Q174)`,
    );
  }
}

function checkCacheMark(problems: Problems, path: string, value: unknown, marks: string[]): void {
  const mark = problems.object(`${path}.cache_control`, value, ["type"], ["ttl"]);
  if (mark === undefined) return;
  problems.oneOf(`${path}.cache_control.type`, mark.type, ["ephemeral"]);
  if ("ttl" in mark) problems.oneOf(`${path}.cache_control.ttl`, mark.ttl, ["5m", "1h"]);
  if (mark.ttl === "1h" && marks.includes("5m"))
    problems.add(`${path}.cache_control.ttl`, "of 1h must come before those of 5m");
  marks.push(mark.ttl === "1h" ? "1h" : "5m");
}
