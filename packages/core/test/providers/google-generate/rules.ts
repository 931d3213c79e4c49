/**
 * The requests that a generateContent server refuses, as far as known. Each rule has broken a real
 * session.
 */
import type { Json } from "./events.ts";

type Problem = (what: string) => void;

const namePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const mediaTypes = ["image/jpeg", "image/png", "image/webp", "application/pdf"];
const skip = "skip_thought_signature_validator";

/**
 * The rules that a request breaks; empty for a valid one. `isNew`: whether the model is Gemini 3 or
 * later.
 */
export function brokenRules(body: Json, isNew: boolean): string[] {
  const problems: string[] = [];
  const problem: Problem = (what) => problems.push(what);
  only(body, ["systemInstruction", "contents", "tools", "toolConfig", "generationConfig"], problem);
  checkConfig((body.generationConfig ?? {}) as Json, isNew, problem);
  checkTools(body, problem);
  checkContents(body.contents as Json[], isNew, problem);
  if (body.systemInstruction !== undefined) {
    const { parts } = body.systemInstruction as { parts: Json[] };
    if (parts.length !== 1 || /^\s*$/.test(parts[0]?.text as string)) problem("system instruction");
  }
  if (/\\ud[89a-f]|\\u0000/i.test(JSON.stringify(body))) problem("a lone surrogate or NUL");
  return problems;
}

function only(value: Json, fields: readonly string[], problem: Problem): void {
  for (const [name, inner] of Object.entries(value)) {
    if (!fields.includes(name)) problem(`unknown field ${name}`);
    if (inner === undefined || inner === null) problem(`${name} is ${String(inner)}`);
  }
}

function checkConfig(config: Json, isNew: boolean, problem: Problem): void {
  only(
    config,
    ["maxOutputTokens", "temperature", "thinkingConfig", "responseMimeType", "responseJsonSchema"],
    problem,
  );
  const { responseMimeType: mime, responseJsonSchema: answer } = config;
  if (mime !== undefined && mime !== "application/json") problem("response type");
  if ((mime === undefined) !== (answer === undefined))
    problem("a response type without a schema, or the other way round");
  if (answer !== undefined && (answer as Json).type !== "object") problem("response schema");
  if (config.thinkingConfig === undefined) return;
  const {
    thinkingBudget: budget,
    thinkingLevel: level,
    includeThoughts,
    ...rest
  } = config.thinkingConfig as Json;
  only(rest, [], problem);
  if (includeThoughts !== true) problem("thoughts are not included");
  if (isNew && !["LOW", "MEDIUM", "HIGH"].includes(level as string)) problem("thinking level");
  if (!isNew && !((budget as number) >= 512 && (budget as number) <= 24_576))
    problem("thinking budget");
  if ((budget === undefined) === (level === undefined)) problem("a budget or a level");
}

function checkTools({ tools, toolConfig }: Json, problem: Problem): void {
  if (tools === undefined) {
    if (toolConfig !== undefined) problem("toolConfig without tools");
    return;
  }
  const [tool, ...more] = tools as { functionDeclarations: Json[] }[];
  if (tool === undefined || more.length > 0 || tool.functionDeclarations.length === 0)
    return problem("tools");
  const names = tool.functionDeclarations.map(({ name }) => name as string);
  if (new Set(names).size !== names.length) problem("tool name twice");
  for (const declaration of tool.functionDeclarations) {
    only(declaration, ["name", "description", "parametersJsonSchema"], problem);
    if (!namePattern.test(declaration.name as string)) problem("tool name");
    const schema = declaration.parametersJsonSchema as Json | undefined;
    if (schema !== undefined && Object.keys(schema.properties as Json).length === 0)
      problem("empty properties");
  }
  if (toolConfig === undefined) return;
  const { mode, allowedFunctionNames: allowed } = (toolConfig as { functionCallingConfig: Json })
    .functionCallingConfig;
  if (!["AUTO", "NONE", "ANY"].includes(mode as string)) problem("mode");
  if (allowed !== undefined && mode !== "ANY") problem("allowed names without ANY");
  if (!((allowed ?? []) as string[]).every((name) => namePattern.test(name)))
    problem("allowed name");
}

function checkContents(contents: readonly Json[], isNew: boolean, problem: Problem): void {
  if (contents.length === 0) problem("no contents");
  let open: Json[] = [];
  for (const [index, content] of contents.entries()) {
    only(content, ["role", "parts"], problem);
    const parts = content.parts as Json[];
    if (content.role !== (index % 2 === 0 ? "user" : "model"))
      problem("roles do not alternate from user");
    if (parts.length === 0) problem("no parts");
    for (const part of parts) checkPart(part, content.role === "user", problem);
    if (content.role === "user") {
      checkResults(parts, open, isNew, problem);
      open = [];
      continue;
    }
    const calls = parts.filter((part) => "functionCall" in part);
    open = calls.map((part) => part.functionCall as Json);
    if (isNew && calls.length > 0 && calls[0]?.thoughtSignature === undefined)
      problem("first call is unsigned");
    const skipped = parts.filter((part) => part.thoughtSignature === skip);
    if (skipped.some((part) => !isNew || part !== calls[0]))
      problem("skipped signature out of place");
  }
  if (open.length > 0) problem("open calls at the end");
}

const dataFields = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "hologram",
];

function checkPart(part: Json, isUser: boolean, problem: Problem): void {
  const data = dataFields.filter((name) => name in part);
  only(part, isUser ? data : [...data, "thought", "thoughtSignature"], problem);
  if (data.length !== 1) problem(`a part of ${data.length} kinds`);
  if (part.thoughtSignature === "") problem("empty signature");
  if ("text" in part && (part.text as string).trim() === "" && part.thoughtSignature === undefined)
    problem("empty text");
  if (isUser && !["text", "inlineData", "fileData", "functionResponse"].includes(data[0] as string))
    problem(`a user's ${data[0]}`);
  if (!isUser && data[0] === "functionResponse") problem("a model's result");
  if ("inlineData" in part) checkMedia(part.inlineData as Json, problem);
  if ("functionCall" in part) {
    const { name, args } = part.functionCall as Json;
    only(part.functionCall as Json, ["id", "name", "args"], problem);
    if (!namePattern.test(name as string)) problem("call name");
    if (typeof args !== "object" || args === null || Array.isArray(args))
      problem("args are no object");
  }
}

function checkMedia(media: Json, problem: Problem): void {
  only(media, ["mimeType", "data"], problem);
  if (!mediaTypes.includes(media.mimeType as string) || media.data === "") problem("image or file");
}

/** Checks for as many results as calls, in their order, before anything else in the turn. */
function checkResults(
  parts: readonly Json[],
  open: readonly Json[],
  isNew: boolean,
  problem: Problem,
): void {
  const results = parts.filter((part) => "functionResponse" in part);
  if (results.some((part, index) => parts[index] !== part)) problem("results are not first");
  const responses = results.map((part) => part.functionResponse as Json);
  const key = ({ id, name }: Json): string => JSON.stringify([id, name]);
  if (responses.map(key).join() !== open.map(key).join()) problem("results do not match the calls");
  const ids = responses.flatMap(({ id }) => (id === undefined ? [] : [id]));
  if (new Set(ids).size !== ids.length) problem("id twice");
  for (const result of responses) {
    only(result, isNew ? ["id", "name", "response", "parts"] : ["id", "name", "response"], problem);
    const [[field, text] = [], ...more] = Object.entries(result.response as Json);
    if (more.length > 0 || (field !== "output" && field !== "error")) problem("response fields");
    if (typeof text !== "string" || text.trim() === "") problem("empty response");
    const inner = (result.parts ?? [
      { inlineData: { mimeType: "image/png", data: "x" } },
    ]) as Json[];
    if (inner.length === 0) problem("empty parts of a response");
    for (const part of inner) {
      only(part, ["inlineData"], problem);
      checkMedia(part.inlineData as Json, problem);
    }
  }
}
