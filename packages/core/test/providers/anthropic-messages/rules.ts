/**
 * The requests that a Messages server refuses, as far as known. Each rule has broken a real
 * session.
 */

type Json = Record<string, unknown>;
type Problem = (what: string) => void;

const idPattern = /^[A-Za-z0-9_-]{1,64}$/;
const namePattern = /^[A-Za-z0-9_-]{1,128}$/;
const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** The rules that a request breaks; empty for a valid one. */
export function brokenRules(body: Json): string[] {
  const problems: string[] = [];
  const problem: Problem = (what) => problems.push(what);
  const messages = body.messages as { role: string; content: Json[] }[];
  checkOptions(body, problem);
  checkTools(body, messages, problem);
  checkTurns(messages, problem);
  checkThinking(body, messages, problem);
  checkMarks(body, problem);
  if (/\\ud[89a-f]|\\u0000/i.test(JSON.stringify(body))) problem("a lone surrogate or NUL");
  return problems;
}

function checkOptions(
  { max_tokens, thinking, temperature, tool_choice, system, metadata }: Json,
  problem: Problem,
): void {
  if (!Number.isInteger(max_tokens) || (max_tokens as number) < 1) problem("max_tokens");
  const { type, budget_tokens: budget } = (thinking ?? {}) as Json;
  if (
    type === "enabled" &&
    !((budget as number) >= 1024 && (budget as number) < (max_tokens as number))
  )
    problem("budget");
  if (type !== undefined && temperature !== undefined) problem("temperature with thinking");
  const choice = (tool_choice as Json | undefined)?.type;
  if (type !== undefined && choice !== undefined && choice !== "auto" && choice !== "none")
    problem("forced tool with thinking");
  for (const block of (system ?? []) as Json[]) checkText(block, problem);
  if (metadata !== undefined && Object.keys(metadata as Json).join() !== "user_id")
    problem("metadata");
}

function checkTools(
  { tools, tool_choice }: Json,
  messages: readonly { content: Json[] }[],
  problem: Problem,
): void {
  const list = (tools ?? []) as Json[];
  if (tools !== undefined && list.length === 0) problem("empty tools");
  if (tools === undefined && tool_choice !== undefined) problem("tool_choice without tools");
  if (
    tools === undefined &&
    messages.some(({ content }) => content.some(({ type }) => type === "tool_use"))
  )
    problem("calls without tools");
  if (new Set(list.map(({ name }) => name)).size !== list.length) problem("tool name twice");
  for (const { name, input_schema } of list) {
    if (!namePattern.test(name as string)) problem("tool name");
    if ((input_schema as Json).type !== "object") problem("tool schema");
  }
}

function checkTurns(
  messages: readonly { role: string; content: Json[] }[],
  problem: Problem,
): void {
  if (messages.length === 0) problem("no messages");
  const ids = new Set<unknown>();
  const serverCalls = new Set<unknown>();
  const serverResults = new Set<unknown>();
  let open: unknown[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== (index % 2 === 0 ? "user" : "assistant"))
      problem("roles do not alternate from user");
    if (content.length === 0) problem("empty message");
    if (role === "user") {
      checkUser(content, open, problem);
      open = [];
      continue;
    }
    open = [];
    for (const block of content) {
      if (block.type === "text") checkText(block, problem);
      else if (block.type === "tool_use") {
        if (!idPattern.test(block.id as string) || ids.has(block.id)) problem("call id");
        if (!namePattern.test(block.name as string)) problem("call name");
        if (typeof block.input !== "object" || block.input === null || Array.isArray(block.input))
          problem("input is no object");
        ids.add(block.id);
        open.push(block.id);
      } else if ("tool_use_id" in block) {
        if (!serverCalls.has(block.tool_use_id)) problem("server result without its call before");
        serverResults.add(block.tool_use_id);
      } else if (String(block.type).endsWith("_tool_use")) serverCalls.add(block.id);
    }
    if (["thinking", "redacted_thinking"].includes(content.at(-1)?.type as string))
      problem("ends in thinking");
    const last = index === messages.length - 1 ? content.at(-1) : undefined;
    if (last?.type === "text" && /\s$/.test(last.text as string))
      problem("last text ends in white space");
    const goesOn = messages
      .slice(index + 1)
      .every(
        (after) => after.role !== "user" || !after.content.some(({ type }) => type === "text"),
      );
    if (goesOn)
      for (const block of content)
        if (String(block.type).endsWith("_tool_use")) serverResults.add(block.id);
  }
  if (open.length > 0) problem("open calls at the end");
  if (serverCalls.difference(serverResults).size > 0) problem("server call without its result");
}

function checkUser(content: readonly Json[], open: readonly unknown[], problem: Problem): void {
  const results = content.filter(({ type }) => type === "tool_result");
  if (results.some((block, index) => content[index] !== block)) problem("results are not first");
  if (JSON.stringify(results.map((block) => block.tool_use_id)) !== JSON.stringify(open))
    problem("results do not match the calls");
  for (const block of content) {
    if (block.type !== "tool_result") {
      checkPart(block, problem);
      continue;
    }
    const parts = block.content as Json[];
    if (parts.length === 0) problem("empty result");
    for (const part of parts) checkPart(part, problem);
    if (block.is_error === true && parts.some(({ type }) => type !== "text"))
      problem("an error with an image");
  }
}

function checkPart(block: Json, problem: Problem): void {
  if (block.type === "text") return checkText(block, problem);
  if (block.type === "document") return checkDocument(block, problem);
  if (block.type !== "image") return problem(`a user's ${String(block.type)}`);
  const { type, media_type, data, url } = block.source as Json;
  if (type === "url" && typeof url === "string" && url.startsWith("https:")) return;
  if (type !== "base64" || !imageTypes.includes(media_type as string) || data === "")
    problem("image");
}

function checkDocument({ source, title = "-" }: Json, problem: Problem): void {
  const { type, media_type, data, url } = source as Json;
  if (typeof title !== "string" || title.trim() === "") problem("title");
  const content = type === "url" ? url : data;
  if (typeof content !== "string" || content.trim() === "") problem("a document without content");
  const mime = type === "base64" ? "application/pdf" : type === "text" ? "text/plain" : undefined;
  if (media_type !== mime) problem("the type of a document");
}

function checkText({ text }: Json, problem: Problem): void {
  if (typeof text !== "string" || text.trim() === "") problem("empty text");
}

function checkThinking(
  body: Json,
  messages: readonly { role: string; content: Json[] }[],
  problem: Problem,
): void {
  const blocks = messages.flatMap(({ content }) => content);
  if (blocks.some((block) => block.type === "thinking" && !block.signature))
    problem("thinking without a signature");
  const isThinking = (block: Json | undefined): boolean =>
    ["thinking", "redacted_thinking"].includes(block?.type as string);
  const last = messages.at(-1);
  if (body.thinking === undefined && last?.role === "assistant" && last.content.some(isThinking))
    problem("thinking that is off, last");
  if ((body.thinking as Json | undefined)?.type !== "enabled") return;
  const turn = last?.content[0]?.type === "tool_result" ? messages.at(-2) : last;
  if (turn?.role === "assistant" && !isThinking(turn.content[0]))
    problem("a continued turn does not begin with thinking");
}

function checkMarks(body: Json, problem: Problem): void {
  const messages = body.messages as { content: Json[] }[];
  const blocks = [body.tools, body.system, ...messages.map(({ content }) => content)].flatMap(
    (list) => (list ?? []) as Json[],
  );
  const marked = blocks.filter((block) => block.cache_control !== undefined);
  if (marked.length > 4) problem("more than 4 cache marks");
  if (
    marked.some(
      ({ type, text }) => type === "thinking" || type === "redacted_thinking" || text === "",
    )
  )
    problem("cache mark on empty text or thinking");
}
