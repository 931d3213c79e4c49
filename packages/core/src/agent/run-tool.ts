/** One execution of a tool, which always settles: by itself, by its time limit, or by an abort and the grace after it. */
import { errorText } from "../errors.ts";
import { textResult } from "./define-tool.ts";
import type { ToolOutcome } from "./event.ts";
import type { Ready } from "./preflight.ts";
import type { Run } from "./run.ts";
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
  return run.effects.step(`tool:${name}`, () => new Execution(run, ready, idempotencyKey).settle(), {
    kind: "tool",
    toolCallId: call.id,
    toolName: call.name,
    args,
    replay: tool.replay ?? "never",
    idempotencyKey,
  });
}

class Execution {
  readonly #run: Run;
  readonly #ready: Ready;
  readonly #idempotencyKey: string;
  readonly #controller = new AbortController();
  readonly #cancels: (() => void)[] = [];
  #updates: Promise<void> | undefined;
  #settled = false;

  constructor(run: Run, ready: Ready, idempotencyKey: string) {
    this.#run = run;
    this.#ready = ready;
    this.#idempotencyKey = idempotencyKey;
  }

  async settle(): Promise<Settled> {
    const { clock } = this.#run;
    const started = clock.now();
    const end = await Promise.race([this.#execute(), this.#stopped()]);
    this.#settled = true;
    for (const cancel of this.#cancels) cancel();
    await this.#updates;
    return { ...end, durationMs: clock.now() - started };
  }

  async #execute(): Promise<Omit<Settled, "durationMs">> {
    const { call, tool, args } = this.#ready;
    const { signal } = this.#controller;
    try {
      const run = { context: this.#run.config.toolContext, idempotencyKey: this.#idempotencyKey };
      const result = normalize(await tool.execute(call.id, args, signal, (partial) => this.#update(partial), run));
      const isError = result.isError === true;
      return { result, isError, outcome: isError ? "failed" : "finished" };
    } catch (error) {
      const outcome: ToolOutcome = signal.aborted ? "stopped" : "failed";
      return { result: textResult(errorText(error)), isError: true, outcome };
    }
  }

  /** Resolves only when the tool was told to stop and did not within the grace. */
  #stopped(): Promise<Omit<Settled, "durationMs">> {
    const { clock, config, signal } = this.#run;
    const limit = this.#ready.tool.timeoutMs ?? config.toolTimeoutMs;
    return new Promise((resolve) => {
      const stop = (why: string): void => {
        if (this.#controller.signal.aborted || this.#settled) return;
        this.#controller.abort(new Error(why));
        const giveUp = (): void => {
          const text = `${why} The tool was left running; whether it takes effect is unknown.`;
          resolve({ result: textResult(text), isError: true, outcome: "left_running" });
        };
        this.#cancels.push(clock.setTimer(this.#run.abortGraceMs, giveUp));
      };
      const onAbort = (): void => stop("The run was aborted.");
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      this.#cancels.push(() => signal.removeEventListener("abort", onAbort));
      if (limit !== undefined && limit > 0) {
        this.#cancels.push(clock.setTimer(limit, () => stop(`The tool took longer than ${limit} ms.`)));
      }
    });
  }

  #update(partial: AgentToolResult): void {
    if (this.#settled) return;
    const { call } = this.#ready;
    const wait = this.#run.emitter.emit({
      type: "tool_execution_update",
      toolCallId: call.id,
      toolName: call.name,
      args: call.arguments,
      partialResult: partial,
    });
    this.#updates = wait ?? this.#updates;
  }
}

/** Tools are other people's code: what comes back may be nothing, or have no content. */
function normalize(result: AgentToolResult | undefined | null): AgentToolResult {
  if (typeof result !== "object" || result === null) throw new Error("The tool returned no result.");
  return Array.isArray(result.content) ? result : { ...result, content: [] };
}
