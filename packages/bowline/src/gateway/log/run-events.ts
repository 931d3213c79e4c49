/** What an agent says, as the gateway's events of the run. */
import {
  messageText,
  type AgentEvent,
  type AssistantMessage,
  type ErrorCode,
  type ErrorInfo,
  type Usage,
} from "@bowline/core";
import { imagesOf } from "../protocol/images.ts";
import { cut } from "./blocks.ts";
import type { ErrorKind, TokenCounts } from "../protocol/protocol.ts";
import type { RunLog } from "./run-log.ts";
import type { SecretFilter } from "../../secrets.ts";
import { tokensOf } from "../protocol/shown-message.ts";

const MAX_PROGRESS = 4000;
const MAX_RESULT = 100_000;

const failed: ErrorInfo = { code: "internal_error", message: "The run failed.", retryable: false };

interface RunEventsOptions {
  readonly filter: SecretFilter;
  /** Of the run's first answer. */
  readonly turn: number;
  /** Of a user's message, as the client knows it. */
  readonly idOf: (message: unknown) => string | undefined;
  /** The variable that the model's key is from. */
  readonly keyVariable: () => string | undefined;
}

/** A listener for one run's events. Approvals are not its concern. */
export function createRunEvents(
  log: RunLog,
  { filter, turn: first, idOf, keyVariable }: RunEventsOptions,
): (event: AgentEvent) => void {
  let turn = first;
  const [text, thinking] = [filter.stream(), filter.stream()];
  const add = (event: "chat.delta" | "chat.thinking", shown: string): void => {
    if (shown !== "") log.append(event, { turn, text: shown });
  };
  const flush = (): void => {
    add("chat.thinking", thinking.end());
    add("chat.delta", text.end());
  };
  return (event) => {
    switch (event.type) {
      case "message_update": {
        const { assistantMessageEvent: update } = event;
        if (update.type === "text_delta") add("chat.delta", text.push(update.delta));
        else if (update.type === "thinking_delta")
          add("chat.thinking", thinking.push(update.delta));
        else if (update.type === "text_end") add("chat.delta", text.end());
        else if (update.type === "thinking_end") add("chat.thinking", thinking.end());
        break;
      }
      case "message_end":
        if (event.message.role === "user") {
          const [messageId, images] = [idOf(event.message), imagesOf(event.message.content)];
          const more = {
            ...(messageId !== undefined && { messageId }),
            ...(images !== undefined && { images }),
          };
          log.append("chat.user", { text: filter.text(messageText(event.message)), ...more });
        }
        if (event.message.role !== "assistant") break;
        flush();
        log.append("chat.turn", turnOf(event.message, turn));
        turn++;
        break;
      case "tool_execution_start": {
        const { toolCallId, toolName: name, args } = event;
        log.append("chat.tool_call", { toolCallId, name, input: filter.value(args) });
        break;
      }
      case "tool_execution_update": {
        const { toolCallId, toolName: name, partialResult } = event;
        const said = messageText({ content: partialResult.content ?? [] });
        log.append("tool.progress", {
          toolCallId,
          name,
          text: filter.text(said.slice(-MAX_PROGRESS)),
        });
        break;
      }
      case "tool_execution_end": {
        const { toolCallId, toolName: name, result, isError, durationMs } = event;
        const output = filter.text(cut(messageText({ content: result.content ?? [] }), MAX_RESULT));
        log.append("chat.tool_result", { toolCallId, name, output, isError, durationMs });
        break;
      }
      case "request_retry": {
        const { attempt, delayMs, error } = event;
        const message = `Try ${attempt} failed (${filter.text(error.message)}); again in ${Math.ceil(delayMs / 1000)} s.`;
        log.append("chat.notice", { code: "request_retry", message });
        break;
      }
      case "model_failover": {
        const message = `${event.from.provider}/${event.from.model} failed; ${event.to.provider}/${event.to.model} answers.`;
        log.append("chat.notice", { code: "model_failover", message });
        break;
      }
      case "agent_end":
        flush();
        endRun(
          log,
          event.error ? { ...event, error: withKey(event.error, keyVariable()) } : event,
          failed,
          filter,
        );
        break;
      case "agent_start":
      case "turn_start":
      case "turn_end":
      case "message_start":
      case "approval_request":
      case "approval_answer":
      case "compaction_start":
      case "compaction_end":
        break;
    }
  };
}

export interface RunEnd {
  readonly reason: string;
  readonly usage?: Usage;
  readonly error?: ErrorInfo;
}

/** The run's last event. `otherwise` is the error of a run that failed without one. */
export function endRun(
  log: RunLog,
  { reason, usage = {}, error }: RunEnd,
  otherwise: ErrorInfo,
  filter: SecretFilter,
): void {
  switch (reason) {
    case "done":
    case "length":
    case "budget":
      log.state = "final";
      log.append("chat.final", {
        usage: tokensOf(usage),
        stopReason: reason === "done" ? "stop" : reason,
      });
      break;
    case "aborted":
      log.state = "aborted";
      log.append("chat.aborted", { usage: tokensOf(usage) });
      break;
    default:
      fail(log, error ?? otherwise, filter);
  }
}

/** Who runs the server is told which key was refused, by its variable. */
function withKey(error: ErrorInfo, variable: string | undefined): ErrorInfo {
  if (error.code !== "authentication_failed" || variable === undefined) return error;
  return { ...error, message: `${error.message} (The key is from the server's ${variable}.)` };
}

export function fail(log: RunLog, given: ErrorInfo, filter: SecretFilter): void {
  const error = { ...given, message: filter.text(given.message) };
  log.state = "error";
  log.append("chat.error", {
    message: error.message,
    errorKind: kinds[error.code] ?? "unknown",
    error,
  });
}

function turnOf(
  { provider, model, usage }: AssistantMessage,
  turn: number,
): {
  turn: number;
  provider: string;
  model: string;
  usage: TokenCounts;
} {
  return { turn, provider, model, usage: tokensOf(usage) };
}

const kinds: Partial<Record<ErrorCode, ErrorKind>> = {
  refusal: "refusal",
  content_filtered: "refusal",
  timeout: "timeout",
  rate_limited: "rate_limit",
  quota_exceeded: "rate_limit",
  overloaded: "rate_limit",
  context_overflow: "context_length",
  request_too_large: "context_length",
  authentication_failed: "auth",
  permission_denied: "auth",
};
