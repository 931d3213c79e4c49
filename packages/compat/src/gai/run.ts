/** gai's run: the agent, its context and a transport through the one loop, to a value. */
import { agentLoopContinue, type AgentLoopConfig, type AgentMessage } from "@bowline/core/agent";
import {
  systemClock,
  type BowlineError,
  type ErrorInfo,
  type AssistantMessage,
  type StreamOptions,
  streamByProtocol,
} from "@bowline/core";
import { toTranscript } from "../parts.ts";
import { failureOf, runToEnd } from "../run-end.ts";
import { reworded, systemPromptOf, type Wording } from "../transcript.ts";
import type { Agent } from "./agent.ts";
import * as shape from "./message.ts";
import { err, errorToString, ok, type GaiError, type Result } from "./result.ts";
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
  const { name, model, apiKey, streamFn = streamByProtocol } = provider;
  const { clock = systemClock } = options;
  const given = systemPrompt ? [shape.system(systemPrompt), ...messages] : messages;
  const before = { messages: given, iterations: 0 };
  if (model === undefined) {
    const message = `The provider ${name} has no model: set one, or name it in new(apiKey, model).`;
    return err({ type: "ApiError", code: "missing_model", message, ...before });
  }
  const wording: Wording = (tool, text) => {
    if (agent.findTool(tool) === undefined) return `Unknown tool: ${tool}`;
    const isParse = /^(?:Not run: The|Invalid) arguments/.test(text);
    return errorToString({ type: isParse ? "ParseError" : "ExecutionError", message: text });
  };
  const inShape = (list: AgentMessage[]): AgentMessage[] =>
    list.map((message) => reworded(message, wording));
  let sendError: GaiError | undefined;
  const config: AgentLoopConfig = {
    maxRetries: 0,
    ...(apiKey !== undefined && { apiKey }),
    ...limits,
    ...options,
    model: { ...model, compat: { ...model.compat, noStreaming: true } }, // a runtime gives whole responses
    fetch: toFetch(runtime, (error) => (sendError = error)),
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

function toGaiError({ code, message, status }: ErrorInfo, isUsedUp = false): GaiError {
  if (isUsedUp)
    return {
      type: "ApiError",
      code: "max_iterations",
      message: "Tool loop exceeded maximum iterations",
    };
  if (status !== undefined) return { type: "HttpError", status, message };
  const isUnreadable =
    code === "unexpected_response" || code === "stream_corrupt" || code === "stream_truncated";
  return isUnreadable ? { type: "ParseError", message } : { type: "ApiError", code, message };
}
