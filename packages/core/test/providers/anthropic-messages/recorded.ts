/**
 * The recorded answers, decoded, and their content according to a second reading of the reference.
 */
import type { AssistantMessage } from "../../../src/llm/message.ts";
import { anthropicMessages } from "../../../src/providers/anthropic-messages/index.ts";
import { decode } from "../decode.ts";
import { loadRecordings } from "../../../../../test/support/recordings.ts";

type Json = Record<string, unknown>;

/** One file: the answers of one conversation, each as a separate body. */
export interface Conversation {
  readonly file: string;
  readonly bodies: readonly string[];
  readonly messages: readonly AssistantMessage[];
}

export function conversations(): Conversation[] {
  const files = loadRecordings("anthropic-messages").filter(({ file }) => file.endsWith(".sse"));
  return files.map(({ file, body }) => {
    const bodies = new TextDecoder().decode(body).split(/(?=^event: message_start$)/m);
    const messages = bodies.map(
      (part) => decode(anthropicMessages, [new TextEncoder().encode(part)]).message,
    );
    return { file, bodies, messages };
  });
}

/**
 * The content of recorded answers, assembled as the reference describes, without the parts that a
 * request leaves out.
 */
export function contentOf(bodies: readonly string[]): Json[] {
  const blocks = bodies
    .flatMap(recordedBlocks)
    .map(({ json: input, caller, citations, ...block }): Json => {
      const direct = block.type === "tool_use" && (caller as Json | undefined)?.type === "direct";
      return {
        ...block,
        ...(typeof input === "string" && input !== "" && { input: JSON.parse(input) as unknown }),
        ...(caller !== undefined && !direct && { caller }),
        ...(Array.isArray(citations) && citations.length > 0 && { citations }),
      };
    });
  const last = blocks.at(-1);
  if (last?.type === "text") last.text = (last.text as string).trimEnd();
  return blocks.filter((block) => block.type !== "text" || (block.text as string).trim() !== "");
}

function recordedBlocks(body: string): Json[] {
  const blocks: Json[] = [];
  for (const line of body.split("\n")) {
    const event = (line.startsWith("data:") ? JSON.parse(line.slice(5)) : {}) as Json;
    if (event.type === "content_block_start") blocks.push({ ...(event.content_block as Json) });
    if (event.type !== "content_block_delta") continue;
    const block = blocks[event.index as number] as Json;
    const { type, partial_json, citation, ...texts } = event.delta as Json;
    if (type === "input_json_delta")
      block.json = `${(block.json ?? "") as string}${String(partial_json)}`;
    else if (type === "citations_delta")
      block.citations = [...((block.citations ?? []) as unknown[]), citation];
    else
      for (const [field, value] of Object.entries(texts))
        block[field] = `${String(block[field])}${String(value)}`;
  }
  return blocks;
}
