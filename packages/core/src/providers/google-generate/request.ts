/**
 * Encodes (model, context, options) as a generateContent request. Safety settings and caches are
 * left to the server, or to the caller's `extraBody`.
 */
import { BowlineError } from "../../errors.ts";
import type { Context, Tool } from "../../llm/message.ts";
import type { Model, StreamOptions, ThinkingLevel, ToolChoice } from "../../llm/model.ts";
import { supportsOutput } from "../../protocols.ts";
import { toJsonSchema, type JsonSchema } from "../../schema.ts";
import type { WireRequest } from "../protocol.ts";
import { adaptSchema } from "../adapt-schema.ts";
import { joinUrl, wireHeaders } from "../endpoint.ts";
import { ownEntry } from "../own-entry.ts";
import { assertSendable } from "../replay.ts";
import { isBlank } from "../is-blank.ts";
import { allowedChoice } from "../tool-names.ts";
import { encodeContents, isGemini3 } from "./contents.ts";
import type { Json } from "./fields.ts";
import { toGoogleName, toGoogleNames } from "./names.ts";

type Level = Exclude<ThinkingLevel, "off">;

/** Valid for every model that takes a budget. */
const budgets: Record<Level, number> = {
  minimal: 512,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 24_576,
};
/** Some models do not know MINIMAL, and none knows more than HIGH. */
const levels: Record<Level, string> = {
  minimal: "LOW",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
  max: "HIGH",
};

export function encode(
  model: Model,
  context: Context,
  options: StreamOptions,
  continued = false,
): WireRequest {
  const contents = encodeContents(context.messages, model, continued);
  assertSendable(contents); // without another server's blocks there may be nothing left
  const { systemPrompt: text = "" } = context;
  const prompt = isBlank(text) ? [] : [{ text }];
  const isSaid = model.compat?.systemRole === "user"; // the prompt goes into the first message
  if (isSaid && !continued) contents[0]?.parts.unshift(...prompt);
  const generationConfig = encodeConfig(model, options, (context.tools ?? []).length > 0);
  return {
    url: urlOf(model),
    headers: wireHeaders(model, options, "x-goog-api-key"),
    body: {
      ...(!isSaid && prompt.length > 0 && { systemInstruction: { parts: prompt } }),
      contents,
      ...encodeTools(context.tools ?? [], options, model),
      ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    },
  };
}

/** Returns the URL. Models are listed with a prefix such as `models/` and used without it. */
function urlOf({ id, baseUrl, compat }: Model): string {
  const path = /^(?:models|tunedModels)\//.test(id) ? id : `models/${id}`;
  const escaped = path.split("/").map(encodeURIComponent).join("/");
  if (compat?.noStreaming === true) return joinUrl(baseUrl, `${escaped}:generateContent`);
  const url = joinUrl(baseUrl, `${escaped}:streamGenerateContent`);
  return `${url}${url.includes("?") ? "&" : "?"}alt=sse`;
}

function encodeConfig(model: Model, options: StreamOptions, withTools: boolean): Json {
  const { maxTokens, temperature } = options;
  const output = supportsOutput(model, withTools) ? options.output : undefined;
  const thinking = encodeThinking(model, options);
  const { noTemperature } = model.compat ?? {};
  const isRefused =
    noTemperature === true || (noTemperature === "thinking" && "thinkingConfig" in thinking); // Q113
  return {
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && !isRefused && { temperature }),
    ...thinking,
    ...(output !== undefined && {
      responseMimeType: "application/json",
      responseJsonSchema: adaptSchema(output.schema, model.compat?.schemaKeywords),
    }),
  };
}

/** Returns a thinking level for Gemini 3 and later, and a budget for earlier models; never both. */
function encodeThinking(model: Model, { reasoning: level, thinkingBudgets }: StreamOptions): Json {
  if (level === undefined || !model.reasoning) return {};
  if (!isGemini3(model.id)) {
    const thinkingBudget = thinkingBudgets?.[level] ?? budgets[level];
    return { thinkingConfig: { includeThoughts: true, thinkingBudget } };
  }
  // Gemini 3 Pro knows only LOW and HIGH.
  const thinkingLevel =
    level === "medium" && /gemini-3-pro/i.test(model.id) ? "HIGH" : levels[level];
  return { thinkingConfig: { includeThoughts: true, thinkingLevel } };
}

/**
 * Encodes the declared tools: functions in one entry, Google's own tools in one each. Unlike other
 * wires, calls in the history need no declaration.
 */
// Q111
function encodeTools(tools: readonly Tool[], options: StreamOptions, model: Model): Json {
  if (tools.length === 0) return {};
  const names = toGoogleNames(tools);
  const own: Json[] = [];
  const functionDeclarations: Json[] = [];
  for (const [index, tool] of tools.entries()) {
    const entry = ownEntry(tool, "google-generate");
    if (entry !== undefined) own.push(entry);
    else functionDeclarations.push(encodeFunction(tool, names[index], model));
  }
  const hasFunctions = functionDeclarations.length > 0;
  // The server refuses a choice of functions if there are none.
  const choice = hasFunctions ? allowedChoice(options, model) : undefined;
  return {
    tools: [...(hasFunctions ? [{ functionDeclarations }] : []), ...own],
    ...(choice !== undefined && {
      toolConfig: { functionCallingConfig: encodeToolChoice(choice, tools) },
    }),
  };
}

function encodeFunction(
  { name, description, parameters }: Tool,
  wireName: string | undefined,
  model: Model,
): Json {
  const schema = toJsonSchema(parameters, `tool "${name}"`);
  return {
    name: wireName,
    ...(description !== "" && { description }),
    // `parameters` accepts only a part of JSON Schema (Q115).
    ...(!isEmpty(schema) && {
      parametersJsonSchema: adaptSchema(schema, model.compat?.schemaKeywords),
    }),
  };
}

/** Returns whether the schema is an object without properties, which the server refuses. */
// Q116
function isEmpty({ properties, additionalProperties, patternProperties }: JsonSchema): boolean {
  const names = Object.keys(properties ?? {});
  return (
    names.length === 0 &&
    (additionalProperties ?? false) === false &&
    patternProperties === undefined
  );
}

function encodeToolChoice(choice: ToolChoice, tools: readonly Tool[]): Json {
  switch (choice) {
    case "auto":
      return { mode: "AUTO" };
    case "none":
      return { mode: "NONE" };
    case "required":
      return { mode: "ANY" };
    default:
      if (tools.some(({ name, providerTool }) => name === choice.name && providerTool))
        throw new BowlineError(
          "invalid_argument",
          `Gemini chooses itself when to use "${choice.name}". Leave out the toolChoice or name a function.`,
        );
      return { mode: "ANY", allowedFunctionNames: [toGoogleName(choice.name)] };
  }
}
