/** Converts an agent's events to the gateway's events of a run. */
import {
  messageText,
  type AgentEvent,
  type AssistantMessage,
  type AssistantMessageEvent,
  type ErrorCode,
  type ErrorInfo,
  type RedactedStream,
  type Usage,
  type UserMessage,
} from "@bowline/core";
import { addedTo, writtenText } from "../protocol/added-text.ts";
import { mediaOf } from "../protocol/images.ts";
import { cut } from "./blocks.ts";
import type { ErrorKind } from "../protocol/protocol.ts";
import type { RunLog } from "./run-log.ts";
import type { SecretFilter } from "../../secrets.ts";
import { billedTokens, tokensOf } from "../protocol/shown-message.ts";

const MAX_PROGRESS = 4000;
const MAX_RESULT = 100_000;

const failed: ErrorInfo = { code: "internal_error", message: "The run failed.", retryable: false };

type ProviderToolUpdate = Extract<AssistantMessageEvent, { readonly type: "provider_tool" }>;
type ToolEvent = Extract<AgentEvent, { readonly type: `tool_execution_${string}` }>;

interface RunEventsOptions {
  readonly filter: SecretFilter;
  /** Number of the run's first answer. */
  readonly turn: number;
  /** The client's id of a user's message. */
  readonly idOf: (message: unknown) => string | undefined;
  /** The environment variable that holds the model's key. */
  readonly keyVariable: () => string | undefined;
}

/** Creates a listener for one run's events. It ignores approvals. */
export function createRunEvents(
  log: RunLog,
  options: RunEventsOptions,
): (event: AgentEvent) => void {
  const told = new RunEvents(log, options);
  return (event) => told.tell(event);
}

class RunEvents {
  readonly #log: RunLog;
  readonly #options: RunEventsOptions;
  readonly #text: RedactedStream;
  readonly #thinking: RedactedStream;
  /** The vendor's own tools that were told of. */
  readonly #providerTools = new Set<string>();
  #turn: number;
  /** True if the current answer had deltas. */
  #hasStreamed = false;

  constructor(log: RunLog, options: RunEventsOptions) {
    this.#log = log;
    this.#options = options;
    this.#text = options.filter.stream();
    this.#thinking = options.filter.stream();
    this.#turn = options.turn;
  }

  tell(event: AgentEvent): void {
    switch (event.type) {
      case "message_update":
        this.#tellDelta(event.assistantMessageEvent);
        break;
      case "message_end":
        if (event.message.role === "user") this.#tellUser(event.message);
        else if (event.message.role === "assistant") this.#tellTurn(event.message);
        break;
      case "tool_execution_start":
      case "tool_execution_update":
      case "tool_execution_end":
        this.#tellTool(event);
        break;
      case "request_retry": {
        const { attempt, delayMs, error } = event;
        const why = this.#options.filter.failure(error).message;
        const message = `Attempt ${attempt} failed (${why}). Retrying in ${Math.ceil(delayMs / 1000)} s.`;
        this.#log.append("chat.notice", { code: "request_retry", message });
        break;
      }
      case "model_failover": {
        const message = `${event.from.provider}/${event.from.model} failed; ${event.to.provider}/${event.to.model} answers.`;
        this.#log.append("chat.notice", { code: "model_failover", message });
        break;
      }
      case "agent_end": {
        this.#flush();
        const { filter, keyVariable } = this.#options;
        const error = event.error && withKey(event.error, keyVariable());
        endRun(this.#log, error ? { ...event, error } : event, failed, filter);
        break;
      }
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
  }

  #tellDelta(update: AssistantMessageEvent): void {
    this.#hasStreamed ||= update.type === "text_delta" || update.type === "thinking_delta";
    if (update.type === "text_delta") this.#add("chat.delta", this.#text.push(update.delta));
    else if (update.type === "thinking_delta")
      this.#add("chat.thinking", this.#thinking.push(update.delta));
    else if (update.type === "text_end") this.#add("chat.delta", this.#text.end());
    else if (update.type === "thinking_end") this.#add("chat.thinking", this.#thinking.end());
    else if (update.type === "provider_tool") this.#tellProviderTool(update);
  }

  /** Tells of the first use of a vendor's own tool, and of each failure. */
  #tellProviderTool({ toolName, status }: ProviderToolUpdate): void {
    const isNew = status === "started" && !this.#providerTools.has(toolName);
    if (!isNew && status !== "failed") return;
    this.#providerTools.add(toolName);
    const what = isNew ? `The model uses ${toolName}` : `${toolName} failed`;
    this.#notice("provider_tool", `${what}, on the servers of its vendor.`);
  }

  /** Lists what an answer cites. */
  #tellSources({ content }: AssistantMessage): void {
    const places = content.flatMap((part) =>
      part.type === "source" ? [part.url ?? part.name ?? part.title ?? ""] : [],
    );
    const listed = [...new Set(places)].filter((place) => place !== "").join(", ");
    if (listed !== "") this.#notice("sources", `Sources: ${listed}`);
  }

  #notice(code: string, message: string): void {
    const shown = cut(this.#options.filter.text(message), MAX_PROGRESS);
    this.#log.append("chat.notice", { code, message: shown });
  }

  #tellUser(message: UserMessage): void {
    const { filter, idOf } = this.#options;
    const messageId = idOf(message);
    const { content } = message;
    this.#log.append("chat.user", {
      text: filter.text(writtenText(content)),
      ...(messageId !== undefined && { messageId }),
      ...filter.value({ ...mediaOf(content), ...addedTo(content) }),
    });
  }

  #tellTurn(message: AssistantMessage): void {
    this.#flush();
    if (!this.#hasStreamed) this.#tellWhole(message);
    this.#hasStreamed = false;
    const { provider, model } = message;
    const usage = billedTokens(message);
    this.#log.append("chat.turn", { turn: this.#turn, provider, model, usage });
    this.#turn++;
    this.#tellSources(message);
  }

  /** Tells of an answer that was recorded by an earlier attempt, so that nothing streams. */
  #tellWhole({ content }: AssistantMessage): void {
    const { filter } = this.#options;
    for (const part of content)
      if (part.type === "text") this.#add("chat.delta", filter.text(part.text));
      else if (part.type === "thinking") this.#add("chat.thinking", filter.text(part.thinking));
  }

  #tellTool(event: ToolEvent): void {
    const { toolCallId, toolName: name } = event;
    const { filter } = this.#options;
    switch (event.type) {
      case "tool_execution_start":
        this.#log.append("chat.tool_call", {
          toolCallId,
          name,
          arguments: filter.value(event.args),
        });
        break;
      case "tool_execution_update": {
        const said = messageText({ content: event.partialResult.content ?? [] });
        const text = filter.unfinished(said).slice(-MAX_PROGRESS);
        this.#log.append("tool.progress", { toolCallId, name, text });
        break;
      }
      case "tool_execution_end": {
        const { result, isError, durationMs } = event;
        // Redact before cutting: a cut secret would no longer match.
        const output = cut(filter.text(messageText({ content: result.content ?? [] })), MAX_RESULT);
        this.#log.append("chat.tool_result", { toolCallId, name, output, isError, durationMs });
        break;
      }
    }
  }

  #add(event: "chat.delta" | "chat.thinking", shown: string): void {
    if (shown !== "") this.#log.append(event, { turn: this.#turn, text: shown });
  }

  #flush(): void {
    this.#add("chat.thinking", this.#thinking.end());
    this.#add("chat.delta", this.#text.end());
  }
}

export interface RunEnd {
  readonly reason: string;
  readonly usage?: Usage;
  readonly error?: ErrorInfo;
}

/** Appends the run's last event. `otherwise` is the error of a run that failed without one. */
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

/** Adds the name of the rejected key's variable, for the server's operator. */
function withKey(error: ErrorInfo, variable: string | undefined): ErrorInfo {
  if (error.code !== "authentication_failed" || variable === undefined) return error;
  return { ...error, message: `${error.message} (The key is from the server's ${variable}.)` };
}

export function fail(log: RunLog, given: ErrorInfo, filter: SecretFilter): void {
  const error = filter.failure(given);
  log.state = "error";
  log.append("chat.error", {
    message: error.message,
    errorKind: kinds[error.code] ?? "unknown",
    error,
  });
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
