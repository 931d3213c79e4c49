/**
 * karl's agent loop (seed 000): a generator of events over the one loop, which returns the final
 * message.
 */
import {
  agentLoopContinue,
  type AgentLoopConfig as CoreConfig,
  type RunEndReason,
} from "@bowline/core/agent";
import {
  systemClock,
  BowlineError,
  type ErrorInfo,
  type AssistantMessageEvent,
  messageText,
  type Compat,
  type Model,
  type StreamFn,
  type StreamOptions,
  type Usage,
  streamByProtocol,
} from "@bowline/core";
import { failureOf } from "../run-end.ts";
import { hasFailed, reworded, systemPromptOf, type Wording } from "../transcript.ts";
import {
  fromToolCall,
  fromTranscript,
  toTranscript,
  type Message,
  type ToolCall,
} from "./message.ts";
import { keepRefusal } from "./refusal.ts";
import { toAgentTool, type ToolDefinition, type ToolResult } from "./tool.ts";

/**
 * Every stream option is taken; `headers` and `extraBody` are for routers. A failed request is not
 * asked again: see `runTask`.
 */
export interface AgentLoopConfig extends StreamOptions {
  model: string;
  /** Up to, not including, `/chat/completions` or `/messages`. */
  baseUrl: string;
  apiKey: string;
  apiFormat: "openai" | "anthropic";
  compat?: Compat;
  /** How often tools may run; with 0 an answer that calls one is an error. Default 50. */
  maxToolRounds?: number;
  /** Whether `thinking_delta` and `thinking_end` are yielded too. Default false. */
  thinkingEvents?: boolean;
  /** Told of each message that enters the history, in order: answers and tool results. */
  onMessage?: (message: Message) => void;
  /** Makes the model calls. Default: the wire of `apiFormat`. */
  streamFn?: StreamFn;
}

/** `input` is the whole prompt, what came from a cache included; `cost` is in US dollars. */
export type TokenUsage = Partial<Record<"input" | "output" | "total" | "cost", number>>;

/**
 * `turn_end` comes once a run, with the sum of its calls; the generator throws the `error` after it
 * was taken.
 */
export type AgentEvent =
  | { type: "stream_start" }
  | { type: "text_delta"; delta: string }
  | { type: "text_end"; text: string }
  | { type: "tool_call_start"; toolCall: ToolCall }
  | { type: "tool_call_end"; toolCall: ToolCall }
  | { type: "tool_execution_start"; toolName: string; args: Record<string, unknown> }
  | { type: "tool_execution_end"; toolName: string; result: ToolResult; isError: boolean }
  | { type: "message_end"; message: Message; usage?: TokenUsage }
  | { type: "turn_end"; usage?: TokenUsage }
  | { type: "error"; error: Error }
  | { type: "thinking_delta"; delta: string }
  | { type: "thinking_end"; text: string };

type Events = AsyncGenerator<AgentEvent, Message, undefined>;

/**
 * Runs until the model calls no more tools; returns its last message. A message list may end with a
 * user's or a tool's. Tools run one after the other. What goes wrong is yielded as `error` and then
 * thrown. Leaving the generator aborts the run.
 */
export async function* agentLoop(
  systemPrompt: string,
  userMessage: string | readonly Message[],
  tools: readonly ToolDefinition[],
  config: AgentLoopConfig,
): Events {
  try {
    const given =
      typeof userMessage === "string"
        ? [{ role: "user", content: userMessage } as const]
        : userMessage;
    return yield* run([{ role: "system", content: systemPrompt }, ...given], tools, config);
  } catch (error) {
    yield { type: "error", error: error as Error };
    throw error;
  }
}

async function* run(
  given: readonly Message[],
  tools: readonly ToolDefinition[],
  { model: id, baseUrl, apiFormat, compat, signal, maxTokens, ...config }: AgentLoopConfig,
): Events {
  if (typeof baseUrl !== "string")
    throw new BowlineError(
      "invalid_argument",
      'The configuration has no baseUrl: give the address up to its version, such as "https://openrouter.ai/api/v1".',
    );
  const { maxToolRounds = 50, thinkingEvents = false, onMessage, clock = systemClock } = config;
  const api = apiFormat === "anthropic" ? "anthropic-messages" : "openai-chat";
  const about = {
    id,
    name: id,
    api,
    provider: apiFormat,
    baseUrl,
    reasoning: true,
    ...(compat && { compat }),
  };
  const model: Model = { ...about, input: ["text", "image"] };
  const context = {
    systemPrompt: systemPromptOf(given),
    messages: given.flatMap((message) => toTranscript(message, model, clock.now())),
    tools: tools.map(toAgentTool),
  };
  const known = new Set(tools.map(({ name }) => name));
  const wording: Wording = (name, text) =>
    known.has(name) ? `Error: ${text}` : `Error: Tool "${name}" not found`;
  const refusal = keepRefusal(config);
  let rounds = -1;
  const loopConfig: CoreConfig = {
    maxRetries: 0,
    ...config,
    ...(maxTokens && { maxTokens }), // 0 is not set
    model,
    fetch: refusal.fetch,
    toolExecution: "sequential",
    budget: { maxTurns: maxToolRounds + 1 },
    convertToLlm(messages) {
      rounds++;
      return messages.map((message) => reworded(message, wording));
    },
    beforeToolCall: () => ({
      block: rounds >= maxToolRounds,
      reason: "There are no rounds left for tools.",
    }),
  };
  let answer: Message | undefined;
  let failed = false;
  for await (const event of agentLoopContinue(
    context,
    loopConfig,
    signal,
    config.streamFn ?? streamByProtocol,
  )) {
    if (event.type === "turn_start") yield { type: "stream_start" };
    else if (event.type === "message_update") {
      yield* streamed(event.assistantMessageEvent, thinkingEvents);
    } else if (event.type === "message_end" && event.message.role === "assistant") {
      failed = hasFailed(event.message);
      if (failed) continue;
      answer = fromTranscript(event.message);
      if (answer.content !== "") yield { type: "text_end", text: messageText(event.message) };
      onMessage?.(answer);
      yield { type: "message_end", message: answer, ...usageOf(event.message.usage) };
    } else if (event.type === "message_end" && event.message.role === "toolResult" && !failed) {
      onMessage?.(fromTranscript(reworded(event.message, wording)));
    } else if (event.type === "tool_execution_start" && known.has(event.toolName)) {
      yield { type: "tool_execution_start", toolName: event.toolName, args: event.args };
    } else if (event.type === "tool_execution_end" && known.has(event.toolName)) {
      const { toolName, isError } = event;
      const { content, details } = event.result;
      const text = wording(toolName, messageText({ content }));
      const result = (details as ToolResult | undefined) ?? {
        content: [{ type: "text", text }],
        isError,
      };
      yield { type: "tool_execution_end", toolName, result, isError };
    } else if (event.type === "agent_end") {
      const failure = failureOf(event);
      if (failure !== undefined) throw toError(failure, event.reason, refusal.text());
      yield { type: "turn_end", ...usageOf(event.usage) };
    }
  }
  return answer as Message; // a run without a failure has one
}

function* streamed(part: AssistantMessageEvent, thinkingEvents: boolean): Generator<AgentEvent> {
  if (part.type === "text_delta") yield { type: "text_delta", delta: part.delta };
  else if (part.type === "thinking_delta" && thinkingEvents)
    yield { type: "thinking_delta", delta: part.delta };
  else if (part.type === "thinking_end" && thinkingEvents)
    yield { type: "thinking_end", text: part.content };
  else if (part.type === "toolcall_end") {
    const toolCall = fromToolCall(part.toolCall);
    yield { type: "tool_call_start", toolCall };
    yield { type: "tool_call_end", toolCall };
  }
}

function usageOf({
  input,
  output,
  totalTokens: total,
  cacheRead = 0,
  cacheWrite = 0,
  cost,
}: Usage): {
  usage?: TokenUsage;
} {
  const usage: TokenUsage = {
    ...(input !== undefined && { input: input + cacheRead + cacheWrite }),
    ...(output !== undefined && { output }),
    ...(total !== undefined && { total }),
    ...(cost !== undefined && { cost: cost.total }),
  };
  return Object.keys(usage).length > 0 ? { usage } : {};
}

function toError(
  { message, ...error }: ErrorInfo,
  reason: RunEndReason,
  refusal = message,
): BowlineError {
  if (reason === "budget") return new BowlineError(error.code, "The rounds for tools are used up.");
  const { code, status } = error;
  return new BowlineError(
    code,
    status === undefined ? message : `API error ${status}: ${refusal}`,
    error,
  );
}
