/**
 * The answer that an attempt makes, as far as its events were published. The live message can be ahead:
 * when several events come in one piece, it has all of them before the first one is published.
 */
import {
  applyEvent,
  type AgentEvent,
  type AssistantContent,
  type AssistantMessage,
  type AssistantMessageEvent,
} from "@bowline/core";

export class ShownAnswer {
  #message: AssistantMessage | undefined;
  /** The parts that have begun and have not ended, by their index. */
  readonly #open = new Set<number>();

  /** Takes an event of the run, as it is published. */
  add(event: AgentEvent): void {
    if (event.type === "message_start" && event.message.role === "assistant")
      this.#message = { ...event.message, content: [] };
    if (event.type === "message_update") this.#fold(event.assistantMessageEvent);
  }

  /** Returns events that say the same: a delta for each open part, and ended ones with their end. */
  events(attempt: number): AssistantMessageEvent[] {
    const content = this.#message?.content ?? [];
    return content.flatMap((part, contentIndex) =>
      eventsOf(part, { attempt, contentIndex }, this.#open.has(contentIndex)),
    );
  }

  #fold(event: AssistantMessageEvent): void {
    this.#message = applyEvent(this.#message, event);
    if (!("contentIndex" in event)) return;
    if (event.type.endsWith("_start")) this.#open.add(event.contentIndex);
    else if (event.type.endsWith("_end")) this.#open.delete(event.contentIndex);
  }
}

/** The events of a part. A part that is open comes without its end. */
function eventsOf(
  part: AssistantContent,
  about: { readonly attempt: number; readonly contentIndex: number },
  isOpen: boolean,
): AssistantMessageEvent[] {
  const said = (
    type: "text_delta" | "thinking_delta" | "toolcall_delta",
    delta: string,
  ): AssistantMessageEvent[] => (delta === "" ? [] : [{ ...about, type, delta }]);
  switch (part.type) {
    case "text": {
      const { text: content, textSignature } = part;
      const signed = textSignature === undefined ? {} : { textSignature };
      return [
        { ...about, type: "text_start" },
        ...said("text_delta", content),
        ...(isOpen ? [] : [{ ...about, ...signed, type: "text_end", content } as const]),
      ];
    }
    case "thinking": {
      const { thinking: content, thinkingSignature, redacted, field } = part;
      const seal = {
        ...(thinkingSignature !== undefined && { thinkingSignature }),
        ...(redacted !== undefined && { redacted }),
      };
      return [
        { ...about, ...(field !== undefined && { field }), type: "thinking_start" },
        ...said("thinking_delta", content),
        ...(isOpen ? [] : [{ ...about, ...seal, type: "thinking_end", content } as const]),
      ];
    }
    case "toolCall": {
      const { id, name, argumentsText = "" } = part;
      return [
        { ...about, type: "toolcall_start", id, name },
        ...said("toolcall_delta", argumentsText),
        ...(isOpen ? [] : [{ ...about, type: "toolcall_end", toolCall: part } as const]),
      ];
    }
    case "opaque":
      return [{ ...about, type: "opaque_end", part }];
    case "source":
    case "image":
    case "file":
      return [{ ...about, type: "part_end", part }];
  }
}
