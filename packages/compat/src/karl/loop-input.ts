/** Converts karl's arguments to the input of core's loop. */
import type { AgentContext, AgentLoopConfig as CoreConfig } from "@bowline/core/agent";
import { BowlineError, systemClock, type Model } from "@bowline/core";
import { reworded, systemPromptOf, type Wording } from "../transcript.ts";
import type { LoopConfig } from "./types.ts";
import { toTranscript, type Message } from "./message.ts";
import { keepRefusal, type RefusalKeeper } from "./refusal.ts";
import { toAgentTool, type ToolDefinition } from "./tool.ts";

export interface LoopInput {
  readonly context: AgentContext;
  readonly config: CoreConfig;
  readonly isKnown: (toolName: string) => boolean;
  readonly wording: Wording;
  readonly refusal: RefusalKeeper;
}

/** Throws `invalid_argument` for a configuration without `baseUrl`. */
export function toLoopInput(
  given: readonly Message[],
  tools: readonly ToolDefinition[],
  options: LoopConfig,
): LoopInput {
  const { signal: _, maxTokens, maxToolRounds = 50, ...config } = options;
  const { clock = systemClock } = config;
  const model = toModel(config);
  const context = {
    systemPrompt: systemPromptOf(given),
    messages: given.flatMap((message) => toTranscript(message, model, clock.now())),
    tools: tools.map(toAgentTool),
  };
  const isKnown = (toolName: string): boolean => tools.some(({ name }) => name === toolName);
  const wording: Wording = (name, text) =>
    isKnown(name) ? `Error: ${text}` : `Error: Tool "${name}" not found`;
  const refusal = keepRefusal(config);
  let rounds = -1;
  const loopConfig: CoreConfig = {
    maxRetries: 0,
    ...config,
    ...(maxTokens && { maxTokens }), // 0 is not set
    model,
    fetch: refusal.fetch,
    toolExecution: "sequential",
    hookTimeoutMs: 0, // readers may be slow
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
  return { context, config: loopConfig, isKnown, wording, refusal };
}

function toModel({ model: id, baseUrl, apiFormat, compat }: LoopConfig): Model {
  if (typeof baseUrl !== "string")
    throw new BowlineError(
      "invalid_argument",
      'The configuration has no baseUrl: give the address up to its version, such as "https://openrouter.ai/api/v1".',
    );
  const api = apiFormat === "anthropic" ? "anthropic-messages" : "openai-chat";
  const about = { id, name: id, api, provider: apiFormat, baseUrl, ...(compat && { compat }) };
  return { ...about, reasoning: true, input: ["text", "image"] };
}
