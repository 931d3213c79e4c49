/** Makes the partial answer of the text that was saved while it streamed. */
import { endedProcess } from "../llm/cut-by-end.ts";
import { emptyMessage, type MessageOrigin } from "../llm/event.ts";
import type { AssistantMessage } from "../llm/message.ts";
import type { Entry } from "./entry.ts";

/**
 * Returns the answer that was streaming at the end of the run's entries, as one that the end of its
 * process cut. Undefined without text, and if the answer's message or the run's end is there.
 */
export function partialAnswerIn(
  entries: readonly Entry[],
  runId: string,
): AssistantMessage | undefined {
  const last = entries.findLastIndex(
    (entry) =>
      (entry.type === "run_end" ||
        (entry.type === "message" && entry.message.role === "assistant")) &&
      entry.runId === runId,
  );
  let origin: MessageOrigin | undefined;
  const parts = new Map<number, string>();
  for (const entry of entries.slice(last + 1)) {
    if (entry.type !== "streamed_text" || entry.runId !== runId) continue;
    ({ origin = origin } = entry);
    for (const index of parts.keys())
      if (index >= (entry.retractedFrom ?? Infinity)) parts.delete(index);
    for (const { contentIndex, text } of entry.pieces)
      parts.set(contentIndex, (parts.get(contentIndex) ?? "") + text);
  }
  const texts = [...parts]
    .toSorted(([a], [b]) => a - b)
    .map(([, text]) => text.replace(/[\uD800-\uDBFF]$/, "")) // half a character
    .filter((text) => text !== "");
  if (origin === undefined || texts.length === 0) return undefined;
  const content = texts.map((text) => ({ type: "text", text }) as const);
  return { ...emptyMessage(origin), content, ...endedProcess() };
}
