/**
 * Executes the tool calls of one answer. Preflight checks run one at a time in the order of the
 * calls. Allowed tools then run in parallel or one by one. Every call gets exactly one result, and
 * results enter the transcript in the order of the calls.
 */
import { errorText, toBowlineError } from "../../errors.ts";
import { defined } from "../../json-value.ts";
import {
  toolCallsOf,
  type AssistantMessage,
  type ToolCall,
  type ToolResultMessage,
} from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { AfterToolCallResult } from "../contract/hooks.ts";
import type { RunPort } from "../contract/run-port.ts";
import type { CallPlan, ToolStep } from "../contract/step.ts";
import type { AgentTool } from "../contract/tool.ts";
import {
  failedCall,
  textResult,
  type CheckedToolResult,
  type SettledCall,
} from "../contract/tool-result.ts";
import { namesOf, stepOf } from "./call-names.ts";
import { planOf, toolsOf } from "./call-plan.ts";
import { aboutCall, preflight, type Ready } from "./preflight.ts";
import type { Run } from "./run.ts";
import { notToStart, runTool } from "./run-tool.ts";
import { stepAbout } from "./step-about.ts";

export interface BatchResult {
  readonly toolResults: ToolResultMessage[];
  /** Whether every result has `terminate` set. */
  readonly terminate: boolean;
}

/**
 * Runs the calls of an answer. If `why` is given, runs none, and that text is the error result of
 * each. Calls that an earlier process answered count for `terminate` too. `plan` was made with the
 * answer; default: by the current settings.
 */
export async function executeToolCalls(
  run: Run,
  message: AssistantMessage,
  why?: string,
  plan?: CallPlan,
): Promise<BatchResult> {
  const calls = openCalls(message, run.context.messages);
  const tools = toolsOf(run);
  const { isSequential, width = Infinity } = plan ?? planOf(run, message, calls);
  const toolResults = resultsOf(message, run.context.messages);
  const ends = await Promise.all(toolResults.map(({ toolCallId: id }) => recorded(run, { id })));
  const finish = async (call: ToolCall, settled: SettledCall): Promise<void> => {
    toolResults.push(await addResult(run, call, settled));
    ends.push(settled);
  };
  const waiting: Start[] = [];
  for (const call of calls) {
    const start = await prepare(run, message, call, tools, why);
    if (isSequential || why !== undefined) {
      await begin(run, [start]);
      await finish(call, await start.run());
    } else waiting.push(start);
  }
  await begin(run, waiting);
  const settled: SettledCall[] = [];
  const queue = waiting.entries();
  const worker = async (): Promise<void> => {
    for (const [index, start] of queue) settled[index] = await start.run();
  };
  await Promise.all(Array.from({ length: Math.min(waiting.length, width) }, worker));
  for (const [index, end] of settled.entries()) await finish(calls[index] as ToolCall, end);
  return { toolResults, terminate: ends.every((end) => end?.result.terminate === true) };
}

/** Tells the effects which calls start now. */
async function begin(run: Run, starts: readonly Start[]): Promise<void> {
  const { effects } = run;
  if (effects.begin === undefined || run.stop) return;
  const steps = starts.flatMap(({ about }) => about ?? []);
  if (steps.length === 0) return;
  try {
    await run.effect(() => effects.begin?.(steps));
  } catch (error) {
    run.fail(toBowlineError(error, "storage_failed"));
  }
}

/** Returns the calls of an answer that have no result in the transcript. */
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

interface Start {
  /** Executes the call, or returns the result of a call that will not run. */
  readonly run: () => SettledCall | Promise<SettledCall>;
  /** The step of a call that will run. */
  readonly about?: ToolStep;
}

/**
 * Runs the preflight of a call and returns its start. A call that the preflight refuses has its end event by then;
 * one that is skipped, because of `why` or an abort, has no events.
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
  if (skipped) return { run: () => skipped };
  await run.emitter.emit({ type: "tool_execution_start", ...namesOf(call), args: call.arguments });
  try {
    if (!settled) {
      const ready = await preflight(run, message, call, tools);
      if ("call" in ready)
        return {
          about: stepAbout(run, ready),
          run: async () =>
            announceEnd(
              run,
              call,
              await runTool(run, ready, (done, port) => after(run, message, ready, done, port)),
            ),
        };
      settled = ready;
    }
  } catch (error) {
    settled = failedCall(run.stop ? `Not run: ${run.stop.message}` : errorText(error));
  }
  const end = await announceEnd(run, call, settled);
  return { run: () => end };
}

/** Returns the recorded outcome of a call that an earlier process of this run started. */
async function recorded(run: Run, call: Pick<ToolCall, "id">): Promise<SettledCall | undefined> {
  try {
    return await run.effect(() => run.effects.recorded?.(stepOf(run, call)));
  } catch (error) {
    return failedCall(`It is unknown whether this call ran: ${run.fail(error).message}`, "unknown");
  }
}

/** Applies `afterToolCall`, which replaces whole fields of the result. */
async function after(
  run: Run,
  message: AssistantMessage,
  ready: Ready,
  settled: SettledCall,
  port: RunPort,
): Promise<SettledCall> {
  const { afterToolCall } = run.config;
  if (!afterToolCall) return settled;
  const { call, args } = ready;
  const { result, isError: failed } = settled as SettledCall & {
    readonly result: CheckedToolResult<object | undefined>;
  };
  try {
    const state = { ...aboutCall(run, message, call, args, port), result, isError: failed };
    const asked = afterToolCall(state, run.signal);
    const { isError = failed, ...fields } =
      (await run.grace.patiently<AfterToolCallResult | undefined | void>(asked)) ?? {};
    return { ...settled, isError, result: { ...result, ...defined(fields) } };
  } catch (error) {
    return {
      ...settled,
      isError: true,
      result: textResult(`The tool ran, but afterToolCall failed: ${errorText(error)}`),
    };
  }
}

async function announceEnd(run: Run, call: ToolCall, settled: SettledCall): Promise<SettledCall> {
  const { result, isError, outcome, durationMs } = settled;
  await run.emitter.emit({
    type: "tool_execution_end",
    ...namesOf(call),
    result,
    isError,
    outcome,
    durationMs,
  });
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
    timestamp: run.now(),
  };
  run.tools.push({ ...namesOf(call), outcome });
  await run.add(message);
  return message;
}
