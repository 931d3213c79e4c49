/**
 * Checks a Chat Completions request by the rules of the reference and of the strictest known
 * servers. For test servers and tests of encoders.
 */
import { checkMessages, toolName } from "./strict-chat-messages.ts";
import { describe, isObject, Problems, type Json } from "./strict-json.ts";

/** The fields that enable thinking, by dialect. */
// Q134
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
 * Returns the problems of the body of a Chat Completions request, one sentence each; an empty list
 * if it is valid.
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

/** Checks `response_format`. */
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

/** Checks that only one dialect enables thinking. */
// Q134
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
      problems.add(`${path}.function.name`, `is a duplicate: ${describe(fn.name)}`);
    names.push(fn.name);
    if ("description" in fn && typeof fn.description !== "string")
      problems.add(`${path}.function.description`, "must be text");
    problems.outputSchema(`${path}.function.parameters`, fn.parameters, fn.strict === true);
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
