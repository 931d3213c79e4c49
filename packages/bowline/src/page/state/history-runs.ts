/** The messages that a session kept, as the runs that they were. */
import type { AssistantMessage, ToolResultMessage, UserMessage } from "@bowline/core";
import type { ErrorKind, HistoryEntry } from "../../gateway/protocol/protocol.ts";
import { partsOf, tokensOf } from "../../gateway/protocol/shown-message.ts";
import { bytesText } from "../text/wording.ts";
import {
  newRun,
  type RunView,
  type ShownBlock,
  type ToolBlock,
  type UserBlock,
} from "./run-view.ts";

/**
 * Oldest first. Messages without a run, such as imported ones, are a run from one user message to
 * the next.
 */
export function runsOfHistory(entries: readonly HistoryEntry[]): RunView[] {
  const groups: { runId: string; entries: HistoryEntry[] }[] = [];
  for (const entry of entries) {
    const last = groups.at(-1);
    const goesOn =
      entry.runId === undefined
        ? last?.entries[0]?.runId === undefined && entry.message.role !== "user"
        : last?.runId === entry.runId;
    if (goesOn && last !== undefined) last.entries.push(entry);
    else groups.push({ runId: entry.runId ?? `entry:${entry.id}`, entries: [entry] });
  }
  return groups.map(({ runId, entries: own }) => toRun(runId, own));
}

function toRun(runId: string, entries: readonly HistoryEntry[]): RunView {
  const blocks: ShownBlock[] = [];
  const run = { ...newRun(runId), turns: [] as RunView["turns"][number][] };
  let last: AssistantMessage | undefined;
  for (const { message } of entries) {
    switch (message.role) {
      case "user":
        blocks.push(toUserBlock((message as UserMessage).content));
        break;
      case "assistant": {
        last = message as AssistantMessage;
        const { provider, model, usage } = last;
        const turn = run.turns.length;
        blocks.push(
          ...partsOf(last, turn).filter((block) => block.type !== "text" || block.text !== ""),
        );
        run.turns.push({ turn, provider, model, usage: tokensOf(usage) });
        break;
      }
      case "toolResult":
        settle(blocks, message as ToolResultMessage);
        break;
      default: // an application's own
    }
  }
  const lastEntry = entries.at(-1)?.id;
  return { ...run, blocks, ...endOf(last), ...(lastEntry !== undefined && { lastEntry }) };
}

/** Of a run that is not known to go on. */
function endOf(last: AssistantMessage | undefined): Pick<RunView, "state" | "failure"> {
  switch (last?.stopReason) {
    case undefined:
      return { state: "interrupted" };
    case "error": {
      const kind: ErrorKind = last.error?.code === "refusal" ? "refusal" : "unknown";
      return {
        state: "error",
        failure: { message: last.errorMessage ?? "The model call failed.", kind },
      };
    }
    case "aborted":
      return { state: "aborted" };
    case "toolUse":
    case "stop":
    case "length":
      return { state: "final" };
  }
}

function toUserBlock(content: string | readonly Part[]): UserBlock {
  if (typeof content === "string") return { type: "user", text: content };
  const images = content.flatMap(({ type, mimeType = "image", bytes }) =>
    type === "image" ? [{ mimeType, ...(bytes !== undefined && { bytes }) }] : [],
  );
  const text = textOf(content.filter(({ type }) => type !== "image"));
  return { type: "user", text, ...(images.length > 0 && { images }) };
}

function settle(blocks: ShownBlock[], { toolCallId, content, isError }: ToolResultMessage): void {
  const index = blocks.findLastIndex(
    (block) => block.type === "tool_call" && block.toolCallId === toolCallId,
  );
  const call = blocks[index] as ToolBlock | undefined;
  if (call !== undefined)
    blocks[index] = { ...call, output: textOf(content), state: isError ? "failed" : "done" };
}

type Part = {
  readonly type: string;
  readonly text?: string;
  readonly mimeType?: string;
  readonly bytes?: number;
};

function textOf(content: string | readonly Part[]): string {
  if (typeof content === "string") return content;
  const shown = content.map(({ type, text = "", mimeType = type, bytes }) => {
    if (type === "text") return text;
    return bytes === undefined ? `[${mimeType}]` : `[${mimeType}, ${bytesText(bytes)}]`;
  });
  return shown.join("");
}
