/** What a page gets of a tool's result, and of the end of a run. */
import type { AgentEvent } from "../agent/contract/event.ts";
import type { SettledCall } from "../agent/contract/tool-result.ts";
import { joinTexts } from "../llm/message.ts";
import type { UIMessageChunk } from "./chunk.ts";
import { metadataOf, type UIStreamSettings, type UIToolResult } from "./options.ts";
import type { ShownCall } from "./shown-call.ts";

/** The outcome of a call, with a result that may be empty. */
export type CallEnd = Pick<SettledCall, "isError" | "outcome"> & {
  readonly result: UIToolResult["result"];
};

export function shownResult(
  { names: { id, name } }: ShownCall,
  result: UIToolResult["result"],
  isPreliminary: boolean,
): UIToolResult {
  return { toolCallId: id, toolName: name, result, isPreliminary };
}

/** Sets the output of a call that has ended. */
export function settleCall(
  call: ShownCall,
  { result, isError, outcome }: CallEnd,
  settings: UIStreamSettings,
): UIMessageChunk[] {
  if (call.approval?.answer?.approved === false && outcome === "not_started")
    return call.setOutput({ state: "denied" });
  if (!isError)
    return call.setOutput({
      state: "done",
      value: settings.toOutput(shownResult(call, result, false)),
    });
  const text = joinTexts(result.content ?? [], "\n");
  const about = { kind: "tool", toolName: call.names.name, outcome, text } as const;
  return call.setOutput({ state: "error", errorText: settings.toErrorText(about) });
}

const finishReasons = {
  done: "stop",
  length: "length",
  error: "error",
  aborted: "interrupted",
  budget: "other",
} as const;

/** Returns the last chunks of a message. */
export function endChunks(
  event: Extract<AgentEvent, { type: "agent_end" }>,
  settings: UIStreamSettings,
): UIMessageChunk[] {
  const { reason, error } = event;
  const messageMetadata = metadataOf(event, settings);
  if (reason === "error" && error)
    // The client stops reading at an error, so the metadata comes first.
    return [
      { type: "message-metadata", messageMetadata },
      { type: "error", errorText: settings.toErrorText({ kind: "run", error }) },
      { type: "finish", finishReason: "error" },
    ];
  const finish: UIMessageChunk = {
    type: "finish",
    finishReason: finishReasons[reason],
    messageMetadata,
  };
  return reason === "aborted" ? [{ type: "abort" }, finish] : [finish];
}
