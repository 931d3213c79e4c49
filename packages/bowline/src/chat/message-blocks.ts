/** Turns stored messages into blocks, for live conversations and for the past alike. */
import { billedUsage, type AssistantMessage, type UserMessage } from "@bowline/core";
import { createHash } from "node:crypto";
import type { Block } from "./block.ts";
import { shellBlock } from "./shell-text.ts";
import { bytesText } from "./text.ts";
import { isAdded } from "./user-message.ts";

/** Longer parts of a message are folded in the transcript. The session has all of them. */
const MAX_PART_LINES = 20;
const SHOWN_LINES = 3;

export function userBlock(message: Pick<UserMessage, "content">): Block {
  const { content } = message;
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const texts = parts.flatMap((part) =>
    part.type === "text" && !isAdded(part) ? [part.text] : [],
  );
  const added = parts.flatMap((part) => (isAdded(part) ? [part.shownAs] : []));
  // The line before the image of a file names it.
  const media = parts.filter((part, at) => part.type !== "text" && !isAdded(parts[at - 1]));
  const shell = parts.length === 1 ? shellBlock(texts[0] ?? "") : undefined;
  return (
    shell ?? {
      type: "user",
      text: texts.map(folded).join("\n"),
      media: media.length,
      ...(added.length > 0 && { added }),
    }
  );
}

/** Folds a long text, such as a paste, to its first lines, its size and its hash. */
function folded(text: string): string {
  const lines = text.split("\n");
  if (lines.length <= MAX_PART_LINES) return text;
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  const size = bytesText(Buffer.byteLength(text));
  return [
    ...lines.slice(0, SHOWN_LINES).map((line) => line.slice(0, 400)),
    `[${lines.length - SHOWN_LINES} more lines; ${size} in all; sha256 ${hash}]`,
  ].join("\n");
}

/** The blocks at the end of an answer: the end of its text, and the line of its request. */
export function blocksOfEnd(message: AssistantMessage, now: number): Block[] {
  const { provider, model, timestamp } = message;
  return [
    { type: "text_end" },
    {
      type: "request",
      model: `${provider}/${model}`,
      usage: billedUsage(message),
      ms: Math.max(0, now - timestamp),
    },
  ];
}

/** The blocks of a stored answer, in the order in which they were streamed. */
export function blocksOfAnswer(message: AssistantMessage, endedAt: number): Block[] {
  const content = message.content.flatMap((part): Block[] => {
    if (part.type === "text") return [{ type: "text", delta: part.text }, { type: "text_end" }];
    if (part.type !== "thinking") return [];
    const words = part.thinking.split(/\s+/).filter((word) => word !== "").length;
    return [{ type: "thought", words }];
  });
  return [...content, ...blocksOfEnd(message, endedAt)];
}

/** The size of the context after an answer, in tokens, if the server reported it. */
export function contextOf({ usage }: AssistantMessage): number | undefined {
  const { input, output = 0, cacheRead = 0, cacheWrite = 0 } = usage;
  return input === undefined ? undefined : input + cacheRead + cacheWrite + output;
}
