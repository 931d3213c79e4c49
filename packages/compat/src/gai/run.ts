/** gai's run: the agent, its context and a transport through the one loop, to a value. */
import { agentLoopContinue, type AgentLoopConfig, type AgentMessage } from "@bowline/core/agent";
import {
  systemClock,
  type BowlineError,
  type ErrorInfo,
  type AssistantMessage,
  type StreamOptions,
} from "@bowline/core";
import { toTranscript } from "../parts.ts";
import { failureOf, runToEnd } from "../run-end.ts";
import { reworded, systemPromptOf, type Wording } from "../transcript.ts";
import type { Agent } from "./agent.ts";
import * as shape from "./message.ts";
import { modelOf, streamFnOf } from "./provider.ts";
import { err, errorToString, missingModel, ok, toGaiError } from "./result.ts";
import type { GaiError, Result } from "./result.ts";
import { toFetch, type Runtime } from "./runtime.ts";

export interface RunResult {
  /** The last answer. */
  readonly response: shape.CompletionResponse;
  /** The whole history, the agent's system prompt first. */
  readonly messages: readonly shape.Message[];
  /** Model calls made. */
  readonly iterations: number;
}

/**
 * What went wrong, with the history until then. `info` is the library's own word, when there is
 * one.
 */
export type RunError = GaiError & Omit<RunResult, "response"> & { readonly info?: ErrorInfo };

/**
 * Runs until the model calls no more tools, one tool after the other. Never rejects. At most
 * `maxIterations` model calls, after which it fails with `max_iterations`; the last one's tools
 * still run. `options` are those of a model call; a request that failed is sent once unless
 * `maxRetries` says otherwise.
 */
export async function run<Ctx>(
  agent: Agent<Ctx>,
  ctx: Ctx,
  messages: readonly shape.Message[],
  runtime: Runtime,
  { signal, ...options }: StreamOptions = {},
): Promise<Result<RunResult, RunError>> {
  const { provider, tools, systemPrompt, maxIterations, ...limits } = agent.fields;
  const model = modelOf(provider);
  const { clock = systemClock } = options;
  const given = withPrompt(messages, systemPrompt);
  const before = { messages: given, iterations: 0 };
  if (model === undefined) return err({ ...missingModel(provider.name), ...before });
  const wording: Wording = (tool, text) => {
    if (agent.findTool(tool) === undefined) return `Unknown tool: ${tool}`;
    const isParse = /^(?:Not run: The|Invalid) arguments/.test(text);
    return errorToString({ type: isParse ? "ParseError" : "ExecutionError", message: text });
  };
  const inShape = (list: AgentMessage[]): AgentMessage[] =>
    list.map((message) => reworded(message, wording));
  let sendError: GaiError | undefined;
  const onSent = (error?: GaiError): void => void (sendError = error);
  const config: AgentLoopConfig = {
    maxRetries: 0,
    ...(provider.apiKey !== undefined && { apiKey: provider.apiKey }),
    ...limits,
    ...options,
    model,
    fetch: toFetch(runtime, onSent),
    toolContext: ctx,
    toolExecution: "sequential",
    budget: { maxTurns: maxIterations },
    convertToLlm: inShape,
  };
  const context = {
    systemPrompt: systemPromptOf(given),
    messages: given.flatMap((message) => toTranscript(message, clock.now())),
    tools: tools
      .filter((tool) => agent.findTool(tool.name) === tool)
      .map(({ definition }) => definition),
  };
  try {
    const streamFn = streamFnOf(provider, runtime, onSent);
    const end = await runToEnd(agentLoopContinue(context, config, signal, streamFn));
    const answers = end.messages.filter((message) => message.role === "assistant");
    const history = [...given, ...shape.fromTranscript(inShape(end.messages))];
    const about = { messages: history, iterations: answers.length };
    const failure = failureOf(end);
    if (failure === undefined)
      return ok({ response: shape.toResponse(answers.at(-1) as AssistantMessage), ...about });
    return err({
      ...(sendError ?? toGaiError(failure, end.reason === "budget")),
      ...about,
      info: failure,
    });
  } catch (error) {
    return err({ ...toGaiError(error as BowlineError), ...before });
  }
}

/** The history with the agent's prompt first, unless it is there, as in the messages of a result. */
function withPrompt(messages: readonly shape.Message[], prompt = ""): readonly shape.Message[] {
  const isThere = messages.some(
    (message) => message.role === "system" && shape.textContent(message) === prompt,
  );
  return prompt === "" || isThere ? messages : [shape.system(prompt), ...messages];
}
