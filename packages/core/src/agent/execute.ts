/**
 * The tool calls of one answer. Preflight is one at a time in source order; allowed tools run together (or one by one); every
 * call gets exactly one result, whatever happened, and results enter the transcript in source order.
 */
import { errorText, type BowlineError } from "../errors.ts";
import { defined } from "../json-value.ts";
import type { AssistantMessage, ToolCall, ToolResultMessage } from "../llm/message.ts";
import { preflight, type Ready } from "./preflight.ts";
import type { Run } from "./run.ts";
import { namesOf, runTool, type Settled } from "./run-tool.ts";
import { textResult } from "./define-tool.ts";
import type { AgentTool, AgentToolResult } from "./tool.ts";

export interface BatchResult {
  readonly toolResults: ToolResultMessage[];
  /** Every result asked to skip the follow-up model call. */
  readonly terminate: boolean;
}

/** Runs the calls of a complete answer. */
export async function executeToolCalls(
  run: Run,
  message: AssistantMessage,
  calls: readonly ToolCall[],
): Promise<BatchResult> {
  const { tools: available = [] } = run.context;
  const tools = new Map(available.map((tool) => [tool.name, tool]));
  const isSequential =
    run.config.toolExecution === "sequential" ||
    calls.some((call) => tools.get(call.name)?.executionMode === "sequential");
  const toolResults: ToolResultMessage[] = [];
  let terminate = true;
  const finish = async (call: ToolCall, settled: Settled): Promise<void> => {
    toolResults.push(await addResult(run, call, settled));
    terminate &&= settled.result.terminate === true;
  };
  const waiting: (() => Promise<Settled>)[] = [];
  for (const call of calls) {
    const start = await prepare(run, message, call, tools);
    if (isSequential) await finish(call, await start());
    else waiting.push(start);
  }
  const settled = await Promise.all(waiting.map((start) => start()));
  for (const [index, end] of settled.entries()) await finish(calls[index] as ToolCall, end);
  return { toolResults, terminate };
}

/** Answers calls that are not run, without execution events: nothing was executed. */
export async function skipToolCalls(run: Run, calls: readonly ToolCall[], why: string): Promise<ToolResultMessage[]> {
  const results: ToolResultMessage[] = [];
  for (const call of calls) results.push(await addResult(run, call, notStarted(why)));
  return results;
}

/** Preflight. Gives what executes the call, or, when it will not run, what gives the result; its end event is out by then. */
async function prepare(
  run: Run,
  message: AssistantMessage,
  call: ToolCall,
  tools: ReadonlyMap<string, AgentTool>,
): Promise<() => Promise<Settled>> {
  if (run.stop !== undefined) return stoppedBefore(run.stop);
  await run.emitter.emit({ type: "tool_execution_start", ...namesOf(call), args: call.arguments });
  const ready = await preflight(run, message, call, tools);
  if ("refusal" in ready) {
    const settled = await announceEnd(run, call, notStarted(ready.refusal));
    return async () => settled;
  }
  return async () => {
    const settled = await (run.stop === undefined
      ? runTool(run, ready).then((ran) => after(run, message, ready, ran))
      : stoppedBefore(run.stop)());
    return announceEnd(run, call, settled);
  };
}

/** `afterToolCall` replaces fields whole. */
async function after(run: Run, assistantMessage: AssistantMessage, ready: Ready, settled: Settled): Promise<Settled> {
  const { config, context, signal } = run;
  const { call: toolCall, args } = ready;
  const result = settled.result as AgentToolResult<object | undefined>;
  try {
    const state = { assistantMessage, toolCall, args, context, result, isError: settled.isError };
    const override = await config.afterToolCall?.(state, signal);
    if (!override) return settled;
    const { isError = settled.isError, ...fields } = override;
    return { ...settled, isError, result: { ...settled.result, ...fields } as AgentToolResult };
  } catch (error) {
    return { ...settled, isError: true, result: textResult(`afterToolCall failed: ${errorText(error)}`) };
  }
}

async function announceEnd(run: Run, call: ToolCall, settled: Settled): Promise<Settled> {
  await run.emitter.emit({ type: "tool_execution_end", ...namesOf(call), ...settled });
  return settled;
}

async function addResult(run: Run, call: ToolCall, { result, isError, outcome }: Settled): Promise<ToolResultMessage> {
  const { content = [], details } = result;
  const message: ToolResultMessage = {
    role: "toolResult",
    ...namesOf(call),
    content,
    ...defined({ details }),
    isError,
    timestamp: run.clock.now(),
  };
  run.tools.push({ ...namesOf(call), outcome });
  await run.add(message);
  return message;
}

function notStarted(why: string): Settled {
  return { result: textResult(why), isError: true, outcome: "not_started", durationMs: 0 };
}

function stoppedBefore({ message }: BowlineError): () => Promise<Settled> {
  return async () => notStarted(`Not run: ${message}`);
}
