/** Converts a run's events to log entries. */
import { compactedView } from "../agent/context/view.ts";
import type { AgentEvent } from "../agent/contract/event.ts";
import type { AgentMessage } from "../agent/contract/agent-message.ts";
import { defined } from "../json-value.ts";
import { messageText } from "../llm/message.ts";
import { billedUsage, type Usage } from "../llm/usage.ts";
import type { EntryBody } from "./entry.ts";

/** The agent's transcript. `idOf` returns the entry id of a message, or undefined for a summary. */
export interface KeptTranscript {
  readonly messages: readonly AgentMessage[];
  idOf(this: void, message: AgentMessage): string | undefined;
}

/**
 * Returns the entries of an event, none for most. Starts of runs and steps of tools are recorded
 * elsewhere.
 */
export function entriesOfEvent(event: AgentEvent, transcript: KeptTranscript): EntryBody[] {
  const { runId } = event;
  switch (event.type) {
    case "agent_end": {
      const { reason, usage, error } = event;
      return [{ type: "run_end", runId, reason, usage, ...defined({ error }) }];
    }
    case "message_end":
      return [{ type: "message", runId, message: event.message }];
    case "approval_request": {
      const { type, approvalId, toolCallId, toolName, args, reason, expiresAt } = event;
      return [{ type, approvalId, toolCallId, toolName, args, ...defined({ reason, expiresAt }) }];
    }
    case "approval_answer": {
      const { type, approvalId, decision, by, reason, remember } = event;
      return [{ type, approvalId, decision, ...defined({ by, reason, remember }) }];
    }
    case "compaction_end":
      return [...usageEntry(runId, event.usage), ...compactionOf(event, transcript)];
    case "agent_start":
    case "turn_start":
    case "turn_end":
    case "message_start":
    case "message_update":
    case "tool_execution_start":
    case "tool_execution_update":
    case "tool_execution_end":
    case "request_retry":
    case "model_failover":
    case "compaction_start":
      return [];
  }
}

/** Returns the usage entry of a nested run's model call, for the run whose tool started it. */
export function nestedUsage(event: AgentEvent, runId: string): EntryBody[] {
  if (event.type === "compaction_end") return usageEntry(runId, event.usage);
  if (event.type !== "message_end" || event.message.role !== "assistant") return [];
  return usageEntry(runId, billedUsage(event.message));
}

function usageEntry(runId: string, usage: Usage): EntryBody[] {
  return Object.keys(usage).length === 0 ? [] : [{ type: "usage", runId, usage }];
}

/**
 * Returns the entry that records what is sent from now on, so that another process sends the same.
 */
function compactionOf(
  event: Extract<AgentEvent, { type: "compaction_end" }>,
  { messages, idOf }: KeptTranscript,
): EntryBody[] {
  const { outcome, summary, firstKept, firstKeptIndex, tokensBefore, tokensAfter } = event;
  const { maxResultTokens } = event;
  // If another hook replaced the messages of the request, they have no entries. The next process
  // compacts again.
  if (outcome === "none" || messages[firstKeptIndex] !== firstKept) return [];
  const shown = compactedView(messages, { summary, firstKeptIndex, messageCount: messages.length });
  // Summaries have no entry: the new one, and one of an earlier process if it is still sent.
  const lastSummary = shown.findLastIndex((message) => idOf(message) === undefined);
  const before = shown.slice(0, lastSummary + 1);
  const first = shown[lastSummary + 1];
  const earlierIds = before.map(idOf).filter((id) => id !== undefined);
  return [
    {
      type: "compaction",
      summary: before
        .filter((message) => idOf(message) === undefined)
        .map(messageText)
        .join("\n\n"),
      firstKeptId: (first && idOf(first)) ?? null,
      ...(earlierIds.length > 0 && { earlierIds }),
      tokensBefore,
      tokensAfter,
      ...defined({ maxResultTokens }),
    },
  ];
}
