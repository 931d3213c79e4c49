/** An agent with a scripted model, and what a page receives of its runs. */
import { Agent, type AgentOptions } from "../../src/index.ts";
import { within } from "../../../../test/support/within.ts";
import { createScriptedModel, type ScriptedStep } from "../../src/testing/index.ts";
import type { UIMessageChunk } from "../../src/ui-stream/index.ts";

export function agentOf(steps: readonly ScriptedStep[], options: AgentOptions = {}): Agent {
  const { model, streamFn } = createScriptedModel(steps, { deltaLength: 100 });
  return new Agent({ model, streamFn, ...options });
}

/** Returns the chunks of a response, which must end as the protocol says. */
export async function chunksOf(response: Response): Promise<UIMessageChunk[]> {
  const frames = (await within("the response ends", response.text()))
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: "))
    .map((frame) => frame.slice(6));
  if (frames.pop() !== "[DONE]") throw new Error("The response does not end with [DONE].");
  return frames.map((frame) => JSON.parse(frame) as UIMessageChunk);
}

/** The body that `useChat` posts for a new message. */
export function posted(text: string, id = "chat"): unknown {
  const parts = [{ type: "text", text }];
  return { id, trigger: "submit-message", messages: [{ id: "u1", role: "user", parts }] };
}

/** The body that `useChat` posts with answers to approvals, given what it was asked. */
export function answered(
  chunks: readonly UIMessageChunk[],
  isApproved: boolean,
  reason?: string,
): { id: string; messages: { parts: { input: unknown; approval: { id: string } }[] }[] } {
  const inputs = new Map<string, unknown>();
  for (const chunk of chunks)
    if (chunk.type === "tool-input-available") inputs.set(chunk.toolCallId, chunk.input);
  const over = new Set(
    chunks.flatMap((chunk) => (chunk.type === "tool-approval-response" ? chunk.approvalId : [])),
  );
  const asked = chunks
    .filter((chunk) => chunk.type === "tool-approval-request")
    .filter(({ approvalId }) => !over.has(approvalId));
  const parts = asked.map(({ toolCallId, approvalId }) => ({
    type: "dynamic-tool",
    toolCallId,
    toolName: "any",
    state: "approval-responded",
    input: inputs.get(toolCallId),
    approval: { id: approvalId, approved: isApproved, reason },
  }));
  const message = { id: "a1", role: "assistant", parts };
  return Object.assign(
    { trigger: "submit-message", messageId: "a1" },
    { id: "chat", messages: [message] },
  );
}
