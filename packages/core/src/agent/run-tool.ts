/** One execution of a tool, which always settles: by itself, by its time limit, or by an abort and the grace after it. */
import { errorText } from "../errors.ts";
import type { ToolCall } from "../llm/message.ts";
import { textResult } from "./define-tool.ts";
import type { ToolOutcome } from "./event.ts";
import type { Ready } from "./preflight.ts";
import { graceOf, onAbort, type Run } from "./run.ts";
import type { AgentToolResult } from "./tool.ts";

export interface Settled {
  readonly result: AgentToolResult;
  readonly isError: boolean;
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
}

/** Runs the tool as one recorded step. Never rejects: a throw is an error result. */
export async function runTool(run: Run, ready: Ready): Promise<Settled> {
  const { call, tool, args } = ready;
  // Servers reuse call ids from turn to turn (Q041), so the turn is part of the name.
  const name = `${run.turns}:${call.id}`;
  const idempotencyKey = `${run.id}:${name}`;
  const about = { kind: "tool", ...namesOf(call), args, replay: tool.replay ?? "never", idempotencyKey } as const;
  return run.effects.step(`tool:${name}`, () => settle(run, ready, idempotencyKey), about);
}

/** How events and records name a call. */
export function namesOf({ id, name }: ToolCall): { readonly toolCallId: string; readonly toolName: string } {
  return { toolCallId: id, toolName: name };
}

async function settle(run: Run, { call, tool, args }: Ready, idempotencyKey: string): Promise<Settled> {
  const { clock, config, emitter } = run;
  const started = clock.now();
  const controller = new AbortController();
  const { signal } = controller;
  const releases: (() => void)[] = [];
  let updates: Promise<void> | undefined;
  let settled = false;
  const end = await Promise.race([execute(), stopped()]);
  settled = true;
  for (const release of releases) release();
  await updates;
  return { ...end, durationMs: clock.now() - started };

  async function execute(): Promise<Omit<Settled, "durationMs">> {
    try {
      const context = { context: config.toolContext, idempotencyKey };
      const result = normalize(await tool.execute(call.id, args, signal, update, context));
      const isError = result.isError === true;
      return { result, isError, outcome: isError ? "failed" : "finished" };
    } catch (error) {
      return { result: textResult(errorText(error)), isError: true, outcome: signal.aborted ? "stopped" : "failed" };
    }
  }

  /** Resolves only when the tool was told to stop and did not within the grace. */
  function stopped(): Promise<Omit<Settled, "durationMs">> {
    return new Promise((resolve) => {
      const stop = (why: string): void => {
        if (signal.aborted || settled) return;
        controller.abort(new Error(why));
        const giveUp = (): void => {
          const text = `${why} The tool was left running and may still take effect.`;
          resolve({ result: textResult(text), isError: true, outcome: "left_running" });
        };
        releases.push(clock.setTimer(graceOf(run), giveUp));
      };
      releases.push(onAbort(run.signal, () => stop("The run was aborted.")));
      const limit = tool.timeoutMs ?? config.toolTimeoutMs ?? 0;
      if (limit > 0) releases.push(clock.setTimer(limit, () => stop(`The tool took longer than ${limit} ms.`)));
    });
  }

  function update(partialResult: AgentToolResult): void {
    if (settled) return;
    const event = { type: "tool_execution_update", ...namesOf(call), args: call.arguments, partialResult } as const;
    updates = emitter.emit(event) ?? updates;
  }
}

/** Tools are other people's code: what comes back may be nothing, or have no content. */
function normalize(result: AgentToolResult | undefined | null): AgentToolResult {
  if (typeof result !== "object" || result === null) throw new Error("The tool returned no result.");
  return Array.isArray(result.content) ? result : { ...result, content: [] };
}
