/** karl's task runner: the loop with a time limit, retries, hooks and a packaged result. */
import { systemClock, BowlineError, isBowlineError, messageText } from "@bowline/core";
import { createAgentLoop, type Wire } from "./agent-loop.ts";
import { bestAnswer } from "./loop-error.ts";
import type { Message } from "./message.ts";
import { TaskHooks, within } from "./task-hooks.ts";
import { TaskReport } from "./task-report.ts";
import type { RunTask, TaskOptions, TaskResult } from "./task-types.ts";
import { adaptTool, type ToolDefinition } from "./tool.ts";
import type { AgentLoop } from "./types.ts";

/** Creates the runner for one wire. */
export function createRunTask(wire: Wire): RunTask {
  return async (options) => new Task(options, wire).run();
}

class Task {
  readonly #task: TaskOptions["task"];
  readonly #options: Omit<TaskOptions, "task" | "tools" | "hooks" | "onEvent">;
  readonly #agentLoop: AgentLoop;
  readonly #report: TaskReport;
  readonly #hooks: TaskHooks;
  readonly #tools: readonly ToolDefinition[];
  readonly #history: Message[];
  readonly #answers: Message[] = [];

  constructor(options: TaskOptions, wire: Wire) {
    const { task, tools = [], hooks = {}, onEvent, ...rest } = options;
    this.#task = task;
    this.#options = rest;
    this.#agentLoop = createAgentLoop(wire);
    this.#report = new TaskReport(onEvent);
    this.#hooks = new TaskHooks({ task, hooks, ...rest }, (event) => this.#report.tell(event));
    this.#tools = tools.map((tool) => adaptTool(this.#hooks.around(tool)));
    this.#history = typeof task === "string" ? [{ role: "user", content: task }] : [...task];
  }

  async run(): Promise<TaskResult> {
    const { clock = systemClock, signal } = this.#options;
    const started = clock.now();
    this.#report.tell({ type: "task_start" });
    await this.#hooks.call("pre-task");
    for (let attempt = 1; ; attempt++) {
      const end = await this.#attempt().catch((error: unknown) => error as Error);
      this.#report.check();
      if (!(end instanceof Error)) return this.#succeed(end, started);
      const delayMs = this.#delay(end, attempt);
      if (delayMs === undefined) return this.#fail(end, started);
      this.#report.tell({ type: "task_retry", attempt, delayMs, error: end });
      await within(delayMs, new Promise(() => {}), clock, signal);
    }
  }

  /** Runs one attempt. Resolves with an answer or throws. */
  async #attempt(): Promise<Message> {
    const { systemPrompt = "", timeoutMs = 0, providerType, retry: _, ...config } = this.#options;
    const { clock = systemClock, signal, onMessage } = config;
    const limit = new AbortController();
    const cancel = timeoutMs > 0 ? clock.setTimer(timeoutMs, () => limit.abort()) : () => {};
    const events = this.#agentLoop(systemPrompt, this.#history, this.#tools, {
      ...config,
      apiFormat: providerType === "anthropic" ? "anthropic" : "openai",
      signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal,
      onMessage: (message) => {
        this.#history.push(message);
        if (message.role === "assistant") this.#answers.push(message);
        onMessage?.(message);
      },
    });
    try {
      for (;;) {
        const { done, value } = await events.next();
        if (done === true) return value;
        this.#report.add(value);
      }
    } catch (error) {
      if (!limit.signal.aborted) throw error;
      throw new BowlineError("timeout", `The task took longer than ${timeoutMs} ms.`, {
        retryable: true,
      });
    } finally {
      cancel();
      await events.return(undefined as never); // still open if a listener threw
    }
  }

  /** Returns the delay before the next attempt; undefined if there is none. */
  #delay(error: Error, attempt: number): number | undefined {
    const { retry = {}, signal } = this.#options;
    const { attempts = 3, delayMs: firstDelayMs = 1000, maxDelayMs = 60_000 } = retry;
    const { retryable = false, retryAfterMs } = isBowlineError(error) ? error : {};
    const delayMs = retryAfterMs ?? Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1));
    const isLast = !(attempt < attempts) || delayMs > maxDelayMs || signal?.aborted === true;
    return retryable && !isLast ? delayMs : undefined;
  }

  async #succeed(answer: Message, started: number): Promise<TaskResult> {
    const result = this.#conclude("success", messageText(answer), started, answer);
    await this.#hooks.call("post-task", { result: result.result });
    this.#report.tell({ type: "task_complete", result });
    return result;
  }

  async #fail(error: Error, started: number): Promise<TaskResult> {
    await this.#hooks.call("on-error", { error });
    this.#report.tell({ type: "task_error", error });
    const answer = bestAnswer(this.#answers);
    return { ...this.#conclude("error", error.message, started, answer), error };
  }

  #conclude(
    status: TaskResult["status"],
    result: string,
    started: number,
    answer?: Message,
  ): TaskResult {
    const { clock = systemClock } = this.#options;
    const durationMs = clock.now() - started;
    return {
      task: this.#task,
      status,
      result,
      ...(answer && { answer }),
      durationMs,
      ...this.#report.counts,
    };
  }
}
