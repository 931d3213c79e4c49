/**
 * The tool calls of one answer. Preflight is one at a time in source order; allowed tools run together (or one by one); every
 * call gets exactly one result, whatever happened, and results enter the transcript in source order.
 */
import { errorText } from "../errors.ts";
import type { AssistantMessage, ToolCall, ToolResultMessage } from "../llm/message.ts";
import type { ToolOutcome } from "./event.ts";
import { preflight, type Ready } from "./preflight.ts";
import type { Run } from "./run.ts";
import { runTool, type Settled } from "./run-tool.ts";
import { textResult } from "./define-tool.ts";
import type { AgentTool } from "./tool.ts";

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
  const tools = new Map((run.context.tools ?? []).map((tool) => [tool.name, tool]));
  const batch = new Batch(run, message, tools);
  const settled = isSequential(run, tools, calls) ? await batch.sequential(calls) : await batch.parallel(calls);
  return {
    toolResults: settled.map(({ resultMessage }) => resultMessage),
    terminate: settled.every(({ settled: { result } }) => result.terminate === true),
  };
}

/** Answers calls that are not run, without execution events: nothing was executed. */
export async function skipToolCalls(run: Run, calls: readonly ToolCall[], why: string): Promise<ToolResultMessage[]> {
  const results: ToolResultMessage[] = [];
  for (const call of calls) results.push(await addResult(run, call, skipped(why)));
  return results;
}

function isSequential(run: Run, tools: ReadonlyMap<string, AgentTool>, calls: readonly ToolCall[]): boolean {
  if (run.config.toolExecution === "sequential") return true;
  return calls.some((call) => tools.get(call.name)?.executionMode === "sequential");
}

interface Finished {
  readonly settled: Settled;
  readonly resultMessage: ToolResultMessage;
}

class Batch {
  readonly #run: Run;
  readonly #message: AssistantMessage;
  readonly #tools: ReadonlyMap<string, AgentTool>;

  constructor(run: Run, message: AssistantMessage, tools: ReadonlyMap<string, AgentTool>) {
    this.#run = run;
    this.#message = message;
    this.#tools = tools;
  }

  async sequential(calls: readonly ToolCall[]): Promise<Finished[]> {
    const finished: Finished[] = [];
    for (const call of calls) {
      const ready = await this.#prepare(call);
      const settled = "settled" in ready ? ready.settled : await this.#execute(ready);
      finished.push({ settled, resultMessage: await addResult(this.#run, call, settled) });
    }
    return finished;
  }

  async parallel(calls: readonly ToolCall[]): Promise<Finished[]> {
    const prepared: (Ready | { readonly settled: Settled })[] = [];
    for (const call of calls) prepared.push(await this.#prepare(call));
    const all = await Promise.all(
      prepared.map(async (ready) => ("settled" in ready ? ready.settled : this.#execute(ready))),
    );
    const finished: Finished[] = [];
    for (const [index, call] of calls.entries()) {
      const settled = all[index] as Settled;
      finished.push({ settled, resultMessage: await addResult(this.#run, call, settled) });
    }
    return finished;
  }

  /** Preflight, or the result of a call that will not run; its end event is out by then. */
  async #prepare(call: ToolCall): Promise<Ready | { readonly settled: Settled }> {
    const { emitter, stop } = this.#run;
    if (stop !== undefined) return { settled: skipped(`Not run: ${stop.message}`) };
    await emitter.emit({
      type: "tool_execution_start",
      toolCallId: call.id,
      toolName: call.name,
      args: call.arguments,
    });
    const ready = await preflight(this.#run, this.#message, call, this.#tools);
    if (!("refusal" in ready)) return ready;
    const settled: Settled = {
      result: textResult(ready.refusal),
      isError: true,
      outcome: "not_started",
      durationMs: 0,
    };
    await this.#end(call, settled);
    return { settled };
  }

  async #execute(ready: Ready): Promise<Settled> {
    const { stop } = this.#run;
    let settled = stop === undefined ? await runTool(this.#run, ready) : skipped(`Not run: ${stop.message}`);
    if (settled.outcome !== "not_started") settled = await this.#after(ready, settled);
    await this.#end(ready.call, settled);
    return settled;
  }

  /** `afterToolCall` replaces fields whole. */
  async #after(ready: Ready, settled: Settled): Promise<Settled> {
    const { config, context, signal } = this.#run;
    if (config.afterToolCall === undefined) return settled;
    const { call, args } = ready;
    const result = settled.result as Settled["result"] & { details?: object };
    try {
      const override = await config.afterToolCall(
        { assistantMessage: this.#message, toolCall: call, args, context, result, isError: settled.isError },
        signal,
      );
      if (!override) return settled;
      const { isError = settled.isError, ...fields } = override;
      return { ...settled, isError, result: { ...settled.result, ...fields } as Settled["result"] };
    } catch (error) {
      return { ...settled, isError: true, result: textResult(`afterToolCall failed: ${errorText(error)}`) };
    }
  }

  async #end(call: ToolCall, { result, isError, outcome, durationMs }: Settled): Promise<void> {
    await this.#run.emitter.emit({
      type: "tool_execution_end",
      toolCallId: call.id,
      toolName: call.name,
      result,
      isError,
      outcome,
      durationMs,
    });
  }
}

async function addResult(run: Run, call: ToolCall, { result, isError, outcome }: Settled): Promise<ToolResultMessage> {
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: result.content ?? [],
    ...(result.details !== undefined && { details: result.details }),
    isError,
    timestamp: run.clock.now(),
  };
  run.tools.push({ toolCallId: call.id, toolName: call.name, outcome });
  await run.add(message);
  return message;
}

function skipped(why: string): Settled {
  const outcome: ToolOutcome = "not_started";
  return { result: textResult(why), isError: true, outcome, durationMs: 0 };
}
