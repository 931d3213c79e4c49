/** Groups the messages of a transcript into runs. */
import { isAdded, labelOf } from "../../gateway/protocol/added-text.ts";
import type {
  HistoryAssistantMessage,
  HistoryFile,
  HistoryImage,
  HistoryPart,
  HistoryToolResult,
} from "../../gateway/protocol/history-message.ts";
import type { ErrorKind, FileInfo, HistoryEntry } from "../../gateway/protocol/protocol.ts";
import { billedTokens, partsOf } from "../../gateway/protocol/shown-message.ts";
import { bytesText } from "../text/wording.ts";
import type { SentImage } from "./sent-image.ts";
import {
  newRun,
  type RunView,
  type ShownBlock,
  type ToolBlock,
  type UserBlock,
} from "./run-view.ts";

/**
 * Returns runs, oldest first. Messages without a run id, such as imported ones, form a run from one
 * user message to the next.
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
  let last: HistoryAssistantMessage | undefined;
  for (const { message } of entries) {
    switch (message.role) {
      case "user":
        blocks.push(toUserBlock(message.content));
        break;
      case "assistant": {
        last = message;
        const { provider, model } = last;
        const turn = run.turns.length;
        blocks.push(
          ...partsOf(last, turn).filter((block) => block.type !== "text" || block.text !== ""),
        );
        run.turns.push({ turn, provider, model, usage: billedTokens(last) });
        break;
      }
      case "toolResult":
        settle(blocks, message);
        break;
      default: // an application's own
    }
  }
  const lastEntry = entries.at(-1)?.id;
  return { ...run, blocks, ...endOf(last), ...(lastEntry !== undefined && { lastEntry }) };
}

/** Returns the end of a run that is not active. */
function endOf(last: HistoryAssistantMessage | undefined): Pick<RunView, "state" | "failure"> {
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

function toUserBlock(content: string | readonly HistoryPart[]): UserBlock {
  if (typeof content === "string") return { type: "user", text: content };
  const images = content.flatMap((part) => (part.type === "image" ? [sizeOf(part)] : []));
  const files = content.flatMap((part) => (part.type === "file" ? [fileOf(part)] : []));
  const added = content
    .filter((part) => isAdded(part))
    .map((part) => ({ ...labelOf(part), text: part.text }));
  const isWritten = (part: HistoryPart): boolean =>
    part.type !== "image" && part.type !== "file" && !isAdded(part);
  const text = textOf(content.filter(isWritten));
  return {
    type: "user",
    text,
    ...(images.length > 0 && { images }),
    ...(files.length > 0 && { files }),
    ...(added.length > 0 && { added }),
  };
}

function settle(blocks: ShownBlock[], { toolCallId, content, isError }: HistoryToolResult): void {
  const index = blocks.findLastIndex(
    (block) => block.type === "tool_call" && block.toolCallId === toolCallId,
  );
  const call = blocks[index] as ToolBlock | undefined;
  if (call !== undefined)
    blocks[index] = { ...call, output: textOf(content), state: isError ? "failed" : "done" };
}

function sizeOf({ mimeType = "image", bytes }: Partial<HistoryImage>): SentImage {
  return { mimeType, ...(bytes !== undefined && { bytes }) };
}

function fileOf({ mimeType, name, bytes }: HistoryFile): FileInfo {
  return { mimeType, ...(name !== undefined && { name }), ...(bytes !== undefined && { bytes }) };
}

/** Returns the text of any message, including parts of unknown types. */
function textOf(content: string | readonly HistoryPart[]): string {
  if (typeof content === "string") return content;
  const shown = content.map((part) => {
    if (part.type === "text") return part.text;
    const { mimeType = part.type, bytes } = part as Partial<HistoryImage>;
    return bytes === undefined ? `[${mimeType}]` : `[${mimeType}, ${bytesText(bytes)}]`;
  });
  return shown.join("");
}
