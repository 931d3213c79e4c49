/** Appends one piece to a part. */
import type { GrowingText } from "./growing-text.ts";
import type { AssistantContent } from "./message.ts";

/** The event types that a stream emits most, one for each token. */
export type DeltaType = "text_delta" | "thinking_delta" | "toolcall_delta";

/**
 * Appends a delta to its part, unless the part is of another kind. `text`, if given, holds the
 * part's text and makes appending cheaper.
 */
export function appendDelta(
  part: AssistantContent | undefined,
  type: DeltaType,
  delta: string,
  text?: GrowingText,
): void {
  switch (type) {
    case "text_delta":
      if (part?.type === "text") part.text = text ? text.append(delta) : part.text + delta;
      break;
    case "thinking_delta":
      if (part?.type === "thinking")
        part.thinking = text ? text.append(delta) : part.thinking + delta;
      break;
    case "toolcall_delta":
      if (part?.type === "toolCall")
        part.argumentsText = text ? text.append(delta) : (part.argumentsText ?? "") + delta;
  }
}
