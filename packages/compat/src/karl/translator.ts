/** Translates events of core's loop to karl's. */
import type { AgentEvent as CoreEvent, AgentMessage } from "@bowline/core/agent";
import { messageText, type AssistantMessageEvent, type Usage } from "@bowline/core";
import { hasFailed, reworded } from "../transcript.ts";
import type { LoopInput } from "./loop-input.ts";
import type { AgentEvent, LoopConfig, ThinkingEvent, TokenUsage } from "./types.ts";
import { fromToolCall, fromTranscript, type Message } from "./message.ts";
import type { ToolResult } from "./tool.ts";

type Events = Generator<AgentEvent | ThinkingEvent, void, undefined>;
type ToolEvent = Extract<CoreEvent, { type: "tool_execution_start" | "tool_execution_end" }>;

/** Translates one run. Calls of unknown tools have no execution events. */
export class Translator {
  /** The answers of the run, without a failed one. */
  readonly answers: Message[] = [];
  readonly #input: LoopInput;
  readonly #config: LoopConfig;
  #hasFailed = false;

  constructor(input: LoopInput, config: LoopConfig) {
    this.#input = input;
    this.#config = config;
  }

  *events(event: CoreEvent): Events {
    if (event.type === "turn_start") yield { type: "stream_start" };
    else if (event.type === "message_update") yield* this.#streamed(event.assistantMessageEvent);
    else if (event.type === "message_end") yield* this.#added(event.message);
    else if (event.type === "tool_execution_start" || event.type === "tool_execution_end")
      if (this.#input.isKnown(event.toolName)) yield this.#execution(event);
  }

  *#streamed(part: AssistantMessageEvent): Events {
    if (part.type === "text_delta") yield { type: "text_delta", delta: part.delta };
    else if (part.type === "toolcall_end") {
      const toolCall = fromToolCall(part.toolCall);
      yield { type: "tool_call_start", toolCall };
      yield { type: "tool_call_end", toolCall };
    } else if (this.#config.thinkingEvents !== true) return;
    else if (part.type === "thinking_delta") yield { type: "thinking_delta", delta: part.delta };
    else if (part.type === "thinking_end") yield { type: "thinking_end", text: part.content };
  }

  *#added(message: AgentMessage): Events {
    if (message.role === "assistant") {
      this.#hasFailed = hasFailed(message);
      if (this.#hasFailed) return;
      const answer = fromTranscript(message);
      this.answers.push(answer);
      if (answer.content !== "") yield { type: "text_end", text: messageText(message) };
      this.#config.onMessage?.(answer);
      yield { type: "message_end", message: answer, ...usageOf(message.usage) };
    } else if (message.role === "toolResult" && !this.#hasFailed)
      this.#config.onMessage?.(fromTranscript(reworded(message, this.#input.wording)));
  }

  #execution(event: ToolEvent): AgentEvent {
    const { type, toolName } = event;
    if (type === "tool_execution_start") return { type, toolName, args: event.args };
    const { isError, result: given } = event;
    const text = this.#input.wording(toolName, messageText(given));
    const own = given.details as ToolResult | undefined;
    return {
      type,
      toolName,
      result: own ?? { content: [{ type: "text", text }], isError },
      isError,
    };
  }
}

export function usageOf(usage: Usage): { usage?: TokenUsage } {
  const { input, output, totalTokens, cacheRead = 0, cacheWrite = 0, cost } = usage;
  const counts: TokenUsage = {
    ...(input !== undefined && { input: input + cacheRead + cacheWrite }),
    ...(output !== undefined && { output }),
    ...(totalTokens !== undefined && { total: totalTokens }),
    ...(cost !== undefined && { cost: cost.total }),
  };
  return Object.keys(counts).length > 0 ? { usage: counts } : {};
}
