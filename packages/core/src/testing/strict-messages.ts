/**
 * Checks an Anthropic Messages request by the rules of the reference and of the strictest known
 * servers. For test servers and tests of encoders.
 */
import { describe, isObject, Problems, schemasIn, type Json } from "./strict-json.ts";
import { checkMessages, checkText, toolName } from "./strict-messages-content.ts";

const MAX_CACHE_MARKS = 4;
const MIN_THINKING_BUDGET = 1024;
/** Keywords that the schema of an answer may contain. */
const formatWords: readonly string[] = (
  "$defs $ref definitions type title description enum const format anyOf allOf items minItems " +
  "properties required additionalProperties"
).split(" ");

/**
 * Returns the problems of the body of a Messages request, one sentence each; an empty list if it is
 * valid.
 */
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

/**
 * Checks thinking: the budget must be below `max_tokens`, and neither `temperature` nor a forced
 * tool is allowed.
 */
// Q175, Q113
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

/** Checks the schema of an answer: known keywords only, every object closed. */
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
      ["description", "cache_control", "type", "strict"],
    );
    if (tool === undefined) continue;
    problems.matches(`${path}.name`, tool.name, toolName);
    if (names.includes(tool.name))
      problems.add(`${path}.name`, `is a duplicate: ${describe(tool.name)}`);
    names.push(tool.name);
    if ("type" in tool) problems.oneOf(`${path}.type`, tool.type, ["custom"]);
    if ("description" in tool && typeof tool.description !== "string")
      problems.add(`${path}.description`, "must be text");
    if ("strict" in tool) problems.oneOf(`${path}.strict`, tool.strict, [true, false]);
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

/** Checks cache marks: at most four, those of 1 h first. */
// Q174
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
      `is used ${marks.length} times; ${MAX_CACHE_MARKS} are allowed (Q174)`,
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
