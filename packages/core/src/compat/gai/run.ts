/** gai's run: the agent, its context and a transport through the one loop, to a value. */
import { agentLoopContinue, type AgentLoopConfig } from "../../agent/index.ts";
import { systemClock } from "../../clock.ts";
import type { BowlineError, ErrorInfo } from "../../errors.ts";
import type { StreamOptions } from "../../llm/model.ts";
import { streamByProtocol } from "../../providers/by-protocol.ts";
import { reworded, type Wording } from "../transcript.ts";
import type { Agent } from "./agent.ts";
import * as shape from "./message.ts";
import { err, ok, type GaiError, type Result } from "./result.ts";
import { toFetch, type Runtime } from "./runtime.ts";

export interface RunResult {
  /** The last answer. */
  readonly response: shape.CompletionResponse;
  /** The whole history, the agent's system prompt first. */
  readonly messages: readonly shape.Message[];
  /** Model calls made. */
  readonly iterations: number;
}

/** What went wrong, with the history until then. `info` is there when a model call failed. */
export type RunError = GaiError & Omit<RunResult, "response"> & { readonly info?: ErrorInfo };

/**
 * Runs until the model calls no more tools, one tool after the other. Never rejects. At most `maxIterations` model calls, after
 * which it fails with `max_iterations`; the last one's tools still run. `options` are those of a model call; a request that
 * failed is sent once unless `maxRetries` says otherwise.
 */
export async function run<Ctx>(
  agent: Agent<Ctx>,
  ctx: Ctx,
  messages: readonly shape.Message[],
  runtime: Runtime,
  { signal, ...options }: StreamOptions = {},
): Promise<Result<RunResult, RunError>> {
  const { provider, systemPrompt = "", maxTokens, temperature, maxIterations } = agent.fields;
  const { model, apiKey, streamFn = streamByProtocol } = provider;
  const given = systemPrompt === "" ? messages : [shape.system(systemPrompt), ...messages];
  const fail = (error: GaiError, more: Partial<RunError> = {}): Result<never, RunError> =>
    err({ ...error, messages: given, iterations: 0, ...more } as RunError);
  if (model === undefined) {
    return fail({ type: "ApiError", code: "missing_model", message: `The provider ${provider.name} has no model.` });
  }
  const { clock = systemClock } = options;
  const tools = agent.tools.filter((tool) => agent.findTool(tool.name) === tool).map(({ definition }) => definition);
  const prompts = given.filter(({ role }) => role === "system").map(shape.textContent);
  const wording: Wording = (name, text) => {
    if (agent.findTool(name) === undefined) return `Unknown tool: ${name}`;
    return `${/^(?:Not run: The|Invalid) arguments/.test(text) ? "Parse" : "Execution"} error: ${text}`;
  };
  let sendError: GaiError | undefined;
  const config: AgentLoopConfig = {
    maxRetries: 0,
    ...(apiKey !== undefined && { apiKey }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...options,
    model: { ...model, compat: { ...model.compat, noStreaming: true } }, // a runtime gives whole responses
    fetch: toFetch(runtime, (error) => (sendError = error)),
    toolContext: ctx,
    toolExecution: "sequential",
    budget: { maxTurns: maxIterations },
    convertToLlm: (list) => list.map((message) => reworded(message, wording)),
  };
  const context = {
    systemPrompt: prompts.join("\n\n"),
    messages: given.flatMap((message) => shape.toTranscript(message, clock.now())),
    tools,
  };
  let iterations = 0;
  try {
    for await (const event of agentLoopContinue(context, config, signal, streamFn)) {
      if (event.type === "turn_end") iterations++;
      if (event.type !== "agent_end") continue;
      const { error, reason } = event;
      const added = shape.fromTranscript(event.messages.map((message) => reworded(message, wording)));
      const about = { messages: [...given, ...added], iterations };
      const last = event.messages.findLast((message) => message.role === "assistant");
      const response = last && shape.toResponse(last);
      const isCut = reason === "length" && response !== undefined && shape.hasToolCalls(response);
      if (error === undefined && response !== undefined && !isCut) return ok({ response, ...about });
      return fail(sendError ?? toGaiError(error), { ...about, ...(error && { info: error }) });
    }
  } catch (error) {
    return fail(toGaiError(error as BowlineError));
  }
  return fail(toGaiError(undefined));
}

function toGaiError(error: ErrorInfo | undefined): GaiError {
  const { code = "length", message = "A token limit cut the calls of each answer.", status } = error ?? {};
  if (status !== undefined) return { type: "HttpError", status, message };
  if (code === "budget_exceeded") {
    return { type: "ApiError", code: "max_iterations", message: "Tool loop exceeded maximum iterations" };
  }
  const isUnreadable = code === "unexpected_response" || code === "stream_corrupt" || code === "stream_truncated";
  return isUnreadable ? { type: "ParseError", message } : { type: "ApiError", code, message };
}
