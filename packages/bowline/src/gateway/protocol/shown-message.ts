/**
 * Converts a model's message to the form that clients show. The page bundles this file, so it
 * imports types only.
 */
import type { Usage } from "@bowline/core";
import type { HistoryAssistantMessage } from "./history-message.ts";
import type { Block, TokenCounts } from "./protocol.ts";

export function partsOf(
  { content }: Pick<HistoryAssistantMessage, "content">,
  turn: number,
): Block[] {
  return content.flatMap((part): Block[] => {
    switch (part.type) {
      case "text":
        return [{ type: "text", turn, text: part.text }];
      case "thinking":
        return part.thinking === "" ? [] : [{ type: "thinking", turn, text: part.thinking }];
      case "toolCall": {
        const { id: toolCallId, name, arguments: args } = part;
        return [
          { type: "tool_call", toolCallId, name, arguments: args, state: "running", output: "" },
        ];
      }
      case "opaque":
      case "source":
      case "image":
      case "file":
        return [];
    }
  });
}

/** Counts the whole prompt as input, including tokens read from or written to a cache. */
export function tokensOf({ input, output, cacheRead, cacheWrite, cost }: Usage = {}): TokenCounts {
  return {
    ...(input !== undefined && { inputTokens: input + (cacheRead ?? 0) + (cacheWrite ?? 0) }),
    ...(output !== undefined && { outputTokens: output }),
    ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
    ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
    ...(cost !== undefined && { cost: cost.total }),
  };
}

/** Returns the billed tokens of a message: its own, and those of discarded tries before it. */
export function billedTokens({
  usage,
  discardedUsage,
}: Pick<HistoryAssistantMessage, "usage" | "discardedUsage">): TokenCounts {
  const sum: Partial<Record<keyof TokenCounts, number>> = { ...tokensOf(usage) };
  for (const [field, value] of Object.entries(tokensOf(discardedUsage)))
    sum[field as keyof TokenCounts] = (sum[field as keyof TokenCounts] ?? 0) + value;
  return sum;
}
