/**
 * The chunks of the UI message stream of the AI SDK 7, as far as Bowline sends them. The `ai`
 * package defines the protocol; its client ignores no unknown chunk, so this list is closed.
 */

/** Why a response ends. `tool-calls`: it waits for a person's approval. */
export type UIFinishReason = "stop" | "length" | "tool-calls" | "error" | "interrupted" | "other";

/** An image or a file of a message. */
export interface UIFilePart {
  readonly type: "file";
  /** `image/*` for an image whose type is not known. */
  readonly mediaType: string;
  /** A `data:` URL, or an address that the page loads. */
  readonly url: string;
  readonly filename?: string;
}

/**
 * A text that a program added to a user's message, such as the content of a file: the message's
 * `shownAs` as the label, and `shownFile`. The text itself is not sent.
 */
export interface UIAddedPart {
  readonly type: "data-added";
  readonly data: { readonly label: string; readonly file?: string };
}

/** A part of what a user wrote or attached. */
export type UIUserPart = { readonly type: "text"; readonly text: string } | UIFilePart;

/** A part of an answer that arrives whole. */
export type UIWholeChunk =
  | {
      readonly type: "source-url";
      readonly sourceId: string;
      /** Starts with `http:` or `https:`. */
      readonly url: string;
      readonly title?: string;
    }
  | {
      readonly type: "source-document";
      readonly sourceId: string;
      readonly mediaType: string;
      readonly title: string;
      readonly filename?: string;
    }
  | { readonly type: "file"; readonly mediaType: string; readonly url: string };

interface ToolInput {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly dynamic: true;
}

/** One chunk of a UI message stream. */
export type UIMessageChunk =
  | { readonly type: "start"; readonly messageId: string }
  | { readonly type: "start-step" | "finish-step" | "reset-step" }
  | { readonly type: "text-start" | "text-end"; readonly id: string }
  | { readonly type: "text-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "reasoning-start" | "reasoning-end"; readonly id: string }
  | { readonly type: "reasoning-delta"; readonly id: string; readonly delta: string }
  | {
      readonly type: "tool-input-start";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly dynamic: true;
    }
  | {
      readonly type: "tool-input-delta";
      readonly toolCallId: string;
      readonly inputTextDelta: string;
    }
  | ({ readonly type: "tool-input-available" } & ToolInput)
  | ({ readonly type: "tool-input-error"; readonly errorText: string } & ToolInput)
  | {
      readonly type: "tool-approval-request";
      readonly approvalId: string;
      readonly toolCallId: string;
      readonly reason?: string;
    }
  | {
      readonly type: "tool-approval-response";
      readonly approvalId: string;
      readonly approved: boolean;
      readonly reason?: string;
    }
  | {
      readonly type: "tool-output-available";
      readonly toolCallId: string;
      readonly output: unknown;
      readonly dynamic: true;
      /** Set on progress. A later output replaces this one. */
      readonly preliminary?: true;
    }
  | {
      readonly type: "tool-output-error";
      readonly toolCallId: string;
      readonly errorText: string;
      readonly dynamic: true;
    }
  | { readonly type: "tool-output-denied"; readonly toolCallId: string }
  | {
      readonly type: "steering-message";
      readonly id: string;
      readonly parts: readonly UIUserPart[];
    }
  | UIWholeChunk
  | UIDataChunk
  | { readonly type: "message-metadata"; readonly messageMetadata: unknown }
  | { readonly type: "error"; readonly errorText: string }
  | { readonly type: "abort" }
  | {
      readonly type: "finish";
      readonly finishReason: UIFinishReason;
      readonly messageMetadata?: unknown;
    };

/** Data of the program, such as from a tool's `details`. */
export interface UIDataChunk {
  readonly type: `data-${string}`;
  /** A later chunk of the same type and id replaces this one. */
  readonly id?: string;
  readonly data: unknown;
  /** Set for data that the message does not keep. */
  readonly transient?: true;
}
