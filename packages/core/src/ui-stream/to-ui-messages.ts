/** A transcript as the messages that a page begins with. */
import type { AgentMessage } from "../agent/contract/agent-message.ts";
import type { AgentEvent, AgentEventBody } from "../agent/contract/event.ts";
import type { UIAddedPart, UIUserPart, UIWholeChunk } from "./chunk.ts";
import { MessageFold } from "./message-fold.ts";
import { settingsOf, type UIMessageStreamOptions } from "./options.ts";
import type { ShownCall } from "./shown-call.ts";
import type { ShownPart } from "./shown-step.ts";
import { userParts } from "./user-parts.ts";

/** A part of an answer, as `useChat` holds it. */
export type UIMessagePart =
  | UIUserPart
  | UIAddedPart
  | UIWholeChunk
  | { readonly type: "text" | "reasoning"; readonly text: string; readonly state: "done" }
  | { readonly type: "step-start" }
  | { readonly type: `data-${string}`; readonly id?: string; readonly data: unknown }
  | ({
      readonly type: "dynamic-tool";
      readonly toolName: string;
      readonly toolCallId: string;
      readonly input: unknown;
    } & (
      | { readonly state: "input-available" }
      | { readonly state: "output-available"; readonly output: unknown }
      | { readonly state: "output-error"; readonly errorText: string }
    ));

/** A message for the option `messages` of `useChat`. */
export interface UIMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly UIMessagePart[];
}

/** Which parts of the messages are shown, and how. */
export type ToUIMessagesOptions = Pick<
  UIMessageStreamOptions,
  "reasoning" | "toOutput" | "toData" | "toErrorText"
>;

/**
 * Returns a transcript as messages of a page: an answer with its tool calls, and all that followed
 * without a message of the user, is one message. Messages of other roles are left out. The ids
 * count from `message-0`, so they are the same each time.
 */
export function toUIMessages(
  messages: readonly AgentMessage[],
  options: ToUIMessagesOptions = {},
): UIMessage[] {
  const shown: UIMessage[] = [];
  let answer: MessageFold | undefined;
  const close = (): void => {
    if (answer)
      shown.push({ id: `message-${shown.length}`, role: "assistant", parts: partsOf(answer) });
    answer = undefined;
  };
  for (const message of messages) {
    if (message.role === "user") {
      close();
      shown.push({ id: `message-${shown.length}`, role: "user", parts: userParts(message) });
    } else if (message.role === "assistant" || message.role === "toolResult") {
      answer ??= new MessageFold(settingsOf(options));
      replayMessage(answer, message, { runId: "transcript", seq: 0 });
    }
  }
  close();
  return shown;
}

/** Adds a message of the transcript to the fold, as its events did. */
export function replayMessage(
  fold: MessageFold,
  message: AgentMessage,
  about: Pick<AgentEvent, "runId" | "seq">,
): void {
  const bodies: AgentEventBody[] = [
    { type: "message_start", message },
    { type: "message_end", message },
  ];
  for (const body of bodies) fold.push({ ...body, ...about });
}

function partsOf({ message }: MessageFold): UIMessagePart[] {
  // A message of the user is one of its own here, so an answer holds steps only.
  return message.items.flatMap((item): UIMessagePart[] =>
    item.kind === "step" ? [{ type: "step-start" }, ...item.parts.map((part) => partOf(part))] : [],
  );
}

function partOf(part: ShownPart): UIMessagePart {
  switch (part.kind) {
    case "text":
    case "reasoning":
      return { type: part.kind, text: part.text, state: "done" };
    case "data": {
      const { type, id, data } = part.chunk;
      return { type, ...(id !== undefined && { id }), data };
    }
    case "whole":
      return part.chunk;
    case "call":
      return callOf(part);
  }
}

function callOf({ names, input, output }: ShownCall): UIMessagePart {
  const value = input.state === "streaming" ? {} : input.value;
  const about = {
    type: "dynamic-tool",
    toolName: names.name,
    toolCallId: names.id,
    input: value,
  } as const;
  if (input.state === "error")
    return { ...about, state: "output-error", errorText: input.errorText };
  switch (output?.state) {
    case "done":
      return { ...about, state: "output-available", output: output.value };
    case "error":
      return { ...about, state: "output-error", errorText: output.errorText };
    case "denied":
    case "progress":
    case undefined:
      return { ...about, state: "input-available" };
  }
}
