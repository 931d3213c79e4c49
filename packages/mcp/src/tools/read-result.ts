/** A server's result as the result of a tool: text and images for the model, bounded. */
import {
  checkJson,
  toJsonSchema,
  type AgentToolResult,
  type JsonSchema,
  type UserContent,
} from "@bowline/core";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { cutText } from "../cut-text.ts";

export interface ReadResultOptions {
  /** Most characters of text. */
  readonly length: number;
  readonly redact: (text: string) => string;
  /** The schema that the structured content is to fit. */
  readonly outputSchema?: JsonSchema | undefined;
}

const MAX_IMAGES = 20;
/** Characters of base64: what model servers take. */
const MAX_IMAGE_LENGTH = 5 * 1024 * 1024;
const MAX_DETAILS = 1024 * 1024;
const images = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Turns content into what a model can be shown. What it cannot be shown becomes a note in words. */
export function readResult(result: CallToolResult, options: ReadResultOptions): AgentToolResult {
  const { structuredContent } = result;
  const content = readContent(result.content, options);
  const json = structuredContent === undefined ? undefined : JSON.stringify(structuredContent);
  const hasText = content.some((part) => part.type === "text" && part.text !== "");
  if (json !== undefined && !hasText)
    content.unshift({ type: "text", text: cutText(options.redact(json), options.length) });
  const misfit = result.isError === true ? undefined : misfitOf(result, options.outputSchema);
  if (misfit !== undefined) content.push({ type: "text", text: misfit });
  const isDetail = json !== undefined && json.length <= MAX_DETAILS;
  return {
    content,
    ...(isDetail && { details: structuredContent }),
    ...((result.isError === true || misfit !== undefined) && { isError: true }),
  };
}

/** Turns the content of a result, prompt or resource into parts of a message. */
export function readContent(
  blocks: readonly ContentBlock[],
  { length, redact }: Pick<ReadResultOptions, "length" | "redact">,
): UserContent[] {
  const parts: UserContent[] = [];
  let left = length;
  let dropped = 0;
  let shown = 0;
  for (const block of blocks) {
    const image = imageOf(block);
    if (image !== undefined && shown < MAX_IMAGES) {
      shown += 1;
      parts.push(image);
      continue;
    }
    const text = redact(textOf(block));
    if (text === "") continue;
    if (left <= 0) {
      dropped += text.length;
      continue;
    }
    parts.push({ type: "text", text: cutText(text, left) });
    left -= text.length + 1;
  }
  if (dropped > 0)
    parts.push({ type: "text", text: `[cut: ${dropped} more characters of further parts]` });
  return parts;
}

function imageOf(block: ContentBlock): UserContent | undefined {
  const { data, mimeType = "" } =
    block.type === "image"
      ? block
      : block.type === "resource" && "blob" in block.resource
        ? { data: block.resource.blob, mimeType: block.resource.mimeType }
        : {};
  // A model server refuses a conversation with a bad image, now and in each later request.
  if (data === undefined || data === "" || data.length > MAX_IMAGE_LENGTH) return undefined;
  if (!images.includes(mimeType) || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined;
  return { type: "image", data, mimeType };
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type}, ${about(block.mimeType, block.data)}, not shown]`;
    case "resource_link": {
      const { uri, name, title, description, mimeType } = block;
      const more = [title ?? name, mimeType, description].filter(Boolean).join(", ");
      return `[resource ${uri}: ${more}]`;
    }
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return `[resource ${resource.uri}]\n${resource.text}`;
      return `[resource ${resource.uri}, ${about(resource.mimeType, resource.blob)}, not shown]`;
    }
  }
}

function about(mimeType = "unknown type", data: string): string {
  return `${mimeType}, ${Math.floor((data.length * 3) / 4)} bytes`;
}

/** What is wrong with the structured content, in words for the model. */
function misfitOf(
  { structuredContent }: CallToolResult,
  schema: JsonSchema | undefined,
): string | undefined {
  if (schema === undefined) return undefined;
  let issues;
  try {
    const json = toJsonSchema(schema, "the result");
    if (structuredContent !== undefined) ({ issues } = checkJson(json, structuredContent));
    else issues = [{ path: "", message: "it is missing" }];
  } catch {
    return undefined; // a schema that cannot be checked
  }
  if (issues === undefined) return undefined;
  const [first] = issues;
  return `[The tool ran, and its structured result does not fit its own schema: ${cutText(`${first?.path ?? ""} ${first?.message ?? ""}`.trim(), 500)}]`;
}
