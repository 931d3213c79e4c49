/** Builds a run's content so far, from its events or from its session's messages. */
import type { ToolResultMessage } from "@bowline/core";
import { messageText, type AssistantMessage, type UserMessage } from "@bowline/core";
import type { SessionMessage } from "@bowline/core/session";
import { addedTo, writtenText } from "../protocol/added-text.ts";
import { mediaOf } from "../protocol/images.ts";
import type { EventFrame } from "../protocol/frame.ts";
import type { Block } from "../protocol/protocol.ts";
import { partsOf } from "../protocol/shown-message.ts";
import type { SecretFilter } from "../../secrets.ts";

type Mutable<T> = T extends unknown ? { -readonly [K in keyof T]: T[K] } : never;

/** The maximum length of a tool's output in a block, in characters. */
const MAX_OUTPUT = 20_000;

/** Adds one event. The cost of a delta does not depend on the length of the text. */
export function addToBlocks(blocks: Block[], { event, data }: EventFrame): void {
  switch (event) {
    case "chat.user": {
      const { text, messageId, images, files, added } = data;
      blocks.push({
        type: "user",
        text,
        ...(messageId !== undefined && { messageId }),
        ...(images && { images }),
        ...(files && { files }),
        ...(added && { added }),
      });
      break;
    }
    case "chat.delta":
    case "chat.thinking": {
      const { turn, text } = data;
      const type = event === "chat.delta" ? "text" : "thinking";
      const last: Mutable<Block> | undefined = blocks.at(-1);
      if (last?.type === type && last.turn === turn) last.text += text;
      else blocks.push({ type, turn, text });
      break;
    }
    case "chat.tool_call": {
      const { toolCallId, name, arguments: args } = data;
      const begun = callOf(blocks, toolCallId);
      // The call was started by a killed server and is started again.
      if (begun?.state === "running") Object.assign(begun, { name, arguments: args, output: "" });
      else
        blocks.push({
          type: "tool_call",
          toolCallId,
          name,
          arguments: args,
          state: "running",
          output: "",
        });
      break;
    }
    case "tool.progress": {
      const call = callOf(blocks, data.toolCallId);
      if (call !== undefined) call.output = data.text;
      break;
    }
    case "chat.tool_result": {
      const { toolCallId, output, isError, durationMs } = data;
      const call = callOf(blocks, toolCallId);
      if (call !== undefined)
        Object.assign(call, {
          state: isError ? "failed" : "done",
          output: cut(output),
          durationMs,
        });
      break;
    }
    case "chat.queued":
    case "chat.turn":
    case "chat.notice":
    case "chat.snapshot":
    case "chat.final":
    case "chat.error":
    case "chat.aborted":
    case "exec.approval_request":
    case "exec.approval_resolved":
    case "sessions.changed":
    case "tick":
    case "shutdown":
      break;
  }
}

/** Builds blocks from the messages of one run, with secrets redacted. */
export function blocksOf(messages: readonly SessionMessage[], filter: SecretFilter): Block[] {
  const blocks: Block[] = [];
  let turn = 0;
  for (const message of messages) {
    if (message.role === "user") {
      const { messageId } = message as { readonly messageId?: string };
      const { content } = message as UserMessage;
      const more = filter.value({ ...mediaOf(content), ...addedTo(content) });
      const text = filter.text(writtenText(content));
      blocks.push({ type: "user", text, ...(messageId !== undefined && { messageId }), ...more });
    }
    if (message.role === "toolResult") {
      const { toolCallId, isError, content } = message as ToolResultMessage;
      const output = cut(filter.text(messageText({ content })));
      const call = callOf(blocks, toolCallId);
      if (call !== undefined) Object.assign(call, { state: isError ? "failed" : "done", output });
    }
    if (message.role === "assistant")
      blocks.push(...filter.value(partsOf(message as AssistantMessage, turn++)));
  }
  return blocks;
}

type CallBlock = Extract<Block, { type: "tool_call" }>;

/** Ids can repeat in later turns: find the last. */
function callOf(blocks: readonly Block[], toolCallId: string): Mutable<CallBlock> | undefined {
  return blocks.findLast(
    (block): block is CallBlock => block.type === "tool_call" && block.toolCallId === toolCallId,
  );
}

/** Cuts a text. `all` is the full length if `text` is only its beginning. */
export function cut(text: string, length: number = MAX_OUTPUT, all: number = text.length): string {
  if (all <= length) return text;
  const shown = text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
  return `${shown}\n[${all - length} more characters]`;
}
