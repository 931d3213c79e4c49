/** gai's run: runs an agent with its context and transport through core's loop, to a value. */
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
  /** The whole history; the agent's system prompt is first. */
  readonly messages: readonly shape.Message[];
  /** Number of model calls. */
  readonly iterations: number;
}

/** The error of a run, with the history so far. `info` is core's error, if there is one. */
export type RunError = GaiError & Omit<RunResult, "response"> & { readonly info?: ErrorInfo };

/**
 * Runs until the model calls no more tools, one tool after another. Never rejects. Fails with
 * `max_iterations` after `maxIterations` model calls; the tools of the last one still run.
 * `options` are those of a model call. Failed requests are not retried unless `maxRetries` is set.
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

/** Puts the agent's prompt first, unless it is already there, as in the messages of a result. */
function withPrompt(messages: readonly shape.Message[], prompt = ""): readonly shape.Message[] {
  const isThere = messages.some(
    (message) => message.role === "system" && shape.textContent(message) === prompt,
  );
  return prompt === "" || isThere ? messages : [shape.system(prompt), ...messages];
}
