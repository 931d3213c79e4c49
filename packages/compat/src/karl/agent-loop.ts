/** karl's agent loop (seed 000): a generator of events over the one loop. */
import { runAgentLoopContinue, type RunEndReason } from "@bowline/core/agent";
import { streamByProtocol, type ErrorInfo } from "@bowline/core";
import { pullEvents, type StartRun } from "../pull-events.ts";
import { failureOf } from "../run-end.ts";
import { AgentLoopError, bestAnswer } from "./loop-error.ts";
import { toLoopInput } from "./loop-input.ts";
import type { Message } from "./message.ts";
import type { ToolDefinition } from "./tool.ts";
import { Translator, usageOf } from "./translator.ts";
import type { AgentLoopConfig, Events } from "./types.ts";

/**
 * Runs until the model calls no more tools; returns its last message. A message list may end with a
 * user's or a tool's. Tools run one after the other.
 *
 * Nothing starts before the reader asks for the next event: no request, and no tool. Leaving the
 * generator aborts the run. A failure is yielded as `error` and then thrown.
 */
export async function* agentLoop(
  systemPrompt: string,
  userMessage: string | readonly Message[],
  tools: readonly ToolDefinition[],
  config: AgentLoopConfig,
): Events {
  try {
    return yield* run(systemPrompt, userMessage, tools, config);
  } catch (error) {
    yield { type: "error", error: error as Error };
    throw error;
  }
}

async function* run(
  systemPrompt: string,
  userMessage: string | readonly Message[],
  tools: readonly ToolDefinition[],
  config: AgentLoopConfig,
): Events {
  const system: Message = { role: "system", content: systemPrompt };
  const isText = typeof userMessage === "string";
  const said: readonly Message[] = isText ? [{ role: "user", content: userMessage }] : userMessage;
  const { streamFn = streamByProtocol, signal } = config;
  const input = toLoopInput([system, ...said], tools, config);
  const translator = new Translator(input, config);
  const start: StartRun = (emit, own) =>
    runAgentLoopContinue(input.context, input.config, emit, own, streamFn);
  for await (const event of pullEvents(start, signal)) {
    yield* translator.events(event);
    if (event.type !== "agent_end") continue;
    const failure = failureOf(event);
    if (failure) {
      const info = { ...failure, message: wordsOf(failure, event.reason, input.refusal.text()) };
      throw new AgentLoopError(info, bestAnswer(translator.answers));
    }
    yield { type: "turn_end", ...usageOf(event.usage) };
  }
  return translator.answers.at(-1) as Message; // a run without a failure has one
}

function wordsOf({ status, message }: ErrorInfo, reason: RunEndReason, refusal = message): string {
  if (reason === "budget") return "The rounds for tools are used up.";
  return status === undefined ? message : `API error ${status}: ${refusal}`;
}
