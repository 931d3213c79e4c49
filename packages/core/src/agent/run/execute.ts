/**
 * The tool calls of one answer. Preflight is one at a time in source order; allowed tools run
 * together (or one by one); every call gets exactly one result, whatever happened, and results
 * enter the transcript in source order.
 */
import { errorText } from "../../errors.ts";
import { defined } from "../../json-value.ts";
import {
  toolCallsOf,
  type AssistantMessage,
  type ToolCall,
  type ToolResultMessage,
} from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { AfterToolCallResult } from "../contract/hooks.ts";
import type { AgentTool } from "../contract/tool.ts";
import {
  failedCall,
  textResult,
  type CheckedToolResult,
  type SettledCall,
} from "../contract/tool-result.ts";
import { namesOf, stepOf } from "./call-names.ts";
import { aboutCall, preflight, type Ready } from "./preflight.ts";
import type { Run } from "./run.ts";
import { notToStart, runTool } from "./run-tool.ts";

export interface BatchResult {
  readonly toolResults: ToolResultMessage[];
  /** Every result asked to skip the follow-up model call. */
  readonly terminate: boolean;
}

/**
 * Runs the calls of an answer, or says of each `why` it is not run. Those that an earlier life of
 * the run has answered count with the rest.
 */
export async function executeToolCalls(
  run: Run,
  message: AssistantMessage,
  why?: string,
): Promise<BatchResult> {
  const calls = openCalls(message, run.context.messages);
  const tools = new Map((run.declared ?? run.context.tools)?.map((tool) => [tool.name, tool]));
  const { toolExecution } = run.config;
  const isSequential =
    why !== undefined ||
    calls.some((call) => (tools.get(call.name)?.executionMode ?? toolExecution) === "sequential");
  const toolResults = resultsOf(message, run.context.messages);
  const ends = await Promise.all(toolResults.map(({ toolCallId: id }) => recorded(run, { id })));
  const finish = async (call: ToolCall, settled: SettledCall): Promise<void> => {
    toolResults.push(await addResult(run, call, settled));
    ends.push(settled);
  };
  const waiting: Start[] = [];
  for (const call of calls) {
    const start = await prepare(run, message, call, tools, why);
    if (isSequential) await finish(call, await start());
    else waiting.push(start);
  }
  const settled: SettledCall[] = [];
  const queue = waiting.entries();
  const worker = async (): Promise<void> => {
    for (const [index, start] of queue) settled[index] = await start();
  };
  const width = Math.min(waiting.length, run.config.maxParallelTools ?? Infinity);
  await Promise.all(Array.from({ length: width }, worker));
  for (const [index, end] of settled.entries()) await finish(calls[index] as ToolCall, end);
  return { toolResults, terminate: ends.every((end) => end?.result.terminate === true) };
}

/** The calls of the answer that have no result behind it. */
export function openCalls(answer: AssistantMessage, messages: readonly AgentMessage[]): ToolCall[] {
  const answered = new Set(resultsOf(answer, messages).map(({ toolCallId }) => toolCallId));
  return toolCallsOf(answer).filter(({ id }) => !answered.has(id));
}

function resultsOf(
  answer: AssistantMessage,
  messages: readonly AgentMessage[],
): ToolResultMessage[] {
  return messages
    .slice(messages.lastIndexOf(answer))
    .filter((message) => message.role === "toolResult");
}

type Start = () => SettledCall | Promise<SettledCall>;

/**
 * Preflight. Gives what executes the call, or, when it will not run, what gives the result; its end
 * event is out by then.
 */
async function prepare(
  run: Run,
  message: AssistantMessage,
  call: ToolCall,
  tools: ReadonlyMap<string, AgentTool>,
  why?: string,
): Promise<Start> {
  let settled = await recorded(run, call);
  const skipped = settled ? undefined : notToStart(run, why);
  if (skipped) return () => skipped;
  await run.emitter.emit({ type: "tool_execution_start", ...namesOf(call), args: call.arguments });
  try {
    if (!settled) {
      const ready = await preflight(run, message, call, tools);
      if ("call" in ready)
        return async () =>
          announceEnd(
            run,
            call,
            await runTool(run, ready, (done) => after(run, message, ready, done)),
          );
      settled = ready;
    }
  } catch (error) {
    settled = failedCall(errorText(error));
  }
  const end = await announceEnd(run, call, settled);
  return () => end;
}

/** What an earlier life of this run began is not asked about again, nor said not to have run. */
async function recorded(run: Run, call: Pick<ToolCall, "id">): Promise<SettledCall | undefined> {
  try {
    return await run.grace.patiently(run.effects.recorded?.(stepOf(run, call)));
  } catch (error) {
    return failedCall(`Perhaps run: ${run.fail(error).message}`, "unknown");
  }
}

/** `afterToolCall` replaces fields whole. */
async function after(
  run: Run,
  message: AssistantMessage,
  ready: Ready,
  settled: SettledCall,
): Promise<SettledCall> {
  const { afterToolCall } = run.config;
  if (!afterToolCall) return settled;
  const { call, args } = ready;
  const { result, isError: failed } = settled as SettledCall & {
    readonly result: CheckedToolResult<object | undefined>;
  };
  try {
    const state = { ...aboutCall(run, message, call, args), result, isError: failed };
    const asked = afterToolCall(state, run.signal);
    const { isError = failed, ...fields } =
      (await run.grace.patiently<AfterToolCallResult | undefined | void>(asked)) ?? {};
    return { ...settled, isError, result: { ...result, ...defined(fields) } };
  } catch (error) {
    return {
      ...settled,
      isError: true,
      result: textResult(`afterToolCall failed: ${errorText(error)}`),
    };
  }
}

async function announceEnd(run: Run, call: ToolCall, settled: SettledCall): Promise<SettledCall> {
  await run.emitter.emit({ type: "tool_execution_end", ...namesOf(call), ...settled });
  return settled;
}

async function addResult(
  run: Run,
  call: ToolCall,
  { result, isError, outcome }: SettledCall,
): Promise<ToolResultMessage> {
  const { content, details } = result;
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
