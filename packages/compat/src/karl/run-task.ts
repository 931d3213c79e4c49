/** karl's runner (seed 000) around the loop: time limit, retries, hooks, and a packaged result. */
import { systemClock, BowlineError, isBowlineError, messageText } from "@bowline/core";
import { agentLoop, type AgentEvent, type AgentLoopConfig, type TokenUsage } from "./agent-loop.ts";
import type { Message } from "./message.ts";
import { adaptTool, type KarlTool, type ToolResult } from "./tool.ts";

export type HookName = "pre-task" | "post-task" | "pre-tool" | "post-tool" | "on-error";

/** What a hook is told: what there is of it at that point. */
export interface HookContext {
  readonly task: TaskOptions["task"];
  readonly toolName?: string;
  readonly args?: unknown;
  readonly result?: string | ToolResult;
  readonly error?: unknown;
}

export type TaskEvent =
  | { type: "task_start" }
  /** A piece of the answer. */
  | { type: "thinking"; delta: string }
  | { type: "tool_start"; toolName: string; args: Record<string, unknown> }
  | { type: "tool_end"; toolName: string; result: ToolResult; isError: boolean }
  | { type: "task_complete"; result: TaskResult }
  | { type: "task_error"; error: Error }
  /** `attempt`, from 1, failed; the next one goes on from what it left after `delayMs`. */
  | { type: "task_retry"; attempt: number; delayMs: number; error: Error }
  | { type: "hook_error"; hook: HookName; error: unknown };

export interface TaskOptions extends Omit<AgentLoopConfig, "apiFormat"> {
  task: string | readonly Message[];
  systemPrompt?: string;
  tools?: readonly KarlTool[];
  /** `anthropic` speaks Anthropic's format, any other OpenAI's. */
  providerType: string;
  /** Of one attempt, in milliseconds. Default: no limit. */
  timeoutMs?: number;
  /**
   * Default: 3 attempts, after 1 s, doubling, at most 60 s; a server that asks for more is not
   * asked again.
   */
  retry?: { attempts?: number; delayMs?: number; maxDelayMs?: number };
  /**
   * Awaited, at most 30 s each. One that fails is a `hook_error` event; none can stop the task or a
   * tool.
   */
  hooks?: Partial<Record<HookName, (context: HookContext) => unknown>>;
  onEvent?: (event: TaskEvent) => void;
}

export interface TaskResult {
  readonly task: TaskOptions["task"];
  readonly status: "success" | "error";
  /** The last answer's text, or what went wrong. */
  readonly result: string;
  readonly error?: Error;
  readonly durationMs: number;
  /** Names, each once, in the order of their first use. */
  readonly toolsUsed: readonly string[];
  /** The sum over all model calls. */
  readonly tokens: TokenUsage;
}

const MAX_HOOK_MS = 30_000;

/**
 * Runs a task. Rejects only with what a listener threw: what a model, a tool or a hook did, the
 * result says. A further attempt goes on from the transcript of the one before, so no tool runs
 * again.
 */
export async function runTask(options: TaskOptions): Promise<TaskResult> {
  const {
    task,
    systemPrompt = "",
    providerType,
    timeoutMs = 0,
    tools: given = [],
    ...rest
  } = options;
  const { retry = {}, hooks = {}, onEvent: listener = () => {}, ...config } = rest;
  const { attempts = 3, delayMs: firstDelayMs = 1000, maxDelayMs = 60_000 } = retry;
  const { clock = systemClock, signal } = config;
  const started = clock.now();
  const history: Message[] =
    typeof task === "string" ? [{ role: "user", content: task }] : [...task];
  const toolsUsed = new Set<string>();
  const tokens: TokenUsage = {};
  const tools = given.map((tool) => adaptTool(withHooks(tool)));
  let thrown: { readonly error: unknown } | undefined;
  const onEvent = (event: TaskEvent): void => {
    try {
      if (thrown === undefined) listener(event);
    } catch (error) {
      thrown = { error };
    }
    if (thrown !== undefined) throw thrown.error; // again, when a tool took the first for its hook's
  };

  onEvent({ type: "task_start" });
  await callHook("pre-task");
  for (let attempt = 1; ; attempt++) {
    const end = await attemptOnce().catch((error: unknown) => error as Error);
    if (thrown !== undefined) throw thrown.error;
    if (!(end instanceof Error)) {
      const result = conclude("success", messageText(end));
      await callHook("post-task", { result: result.result });
      onEvent({ type: "task_complete", result });
      return result;
    }
    const { retryable = false, retryAfterMs } = isBowlineError(end) ? end : {};
    const delayMs = retryAfterMs ?? Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1));
    if (!retryable || !(attempt < attempts) || delayMs > maxDelayMs || signal?.aborted === true) {
      await callHook("on-error", { error: end });
      onEvent({ type: "task_error", error: end });
      return { ...conclude("error", end.message), error: end };
    }
    onEvent({ type: "task_retry", attempt, delayMs, error: end });
    await within(delayMs, new Promise(() => {}));
  }

  /** One try, which ends with an answer or throws. */
  async function attemptOnce(): Promise<Message> {
    const limit = new AbortController();
    const cancel = timeoutMs > 0 ? clock.setTimer(timeoutMs, () => limit.abort()) : () => {};
    const events = agentLoop(systemPrompt, history, tools, {
      ...config,
      apiFormat: providerType === "anthropic" ? "anthropic" : "openai",
      signal: signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]),
      onMessage(message) {
        history.push(message);
        config.onMessage?.(message);
      },
    });
    try {
      for (;;) {
        const { done, value } = await events.next();
        if (done === true) return value;
        report(value);
      }
    } catch (error) {
      if (!limit.signal.aborted) throw error;
      throw new BowlineError("timeout", `The task took longer than ${timeoutMs} ms.`, {
        retryable: true,
      });
    } finally {
      cancel();
      await events.return(undefined as never); // a listener that threw leaves it open
    }
  }

  function report(event: AgentEvent): void {
    if (event.type === "text_delta") onEvent({ ...event, type: "thinking" });
    else if (event.type === "tool_execution_end") onEvent({ ...event, type: "tool_end" });
    else if (event.type === "tool_execution_start") {
      toolsUsed.add(event.toolName);
      onEvent({ ...event, type: "tool_start" });
    } else if (event.type === "message_end") {
      for (const [key, count] of Object.entries(event.usage ?? {}) as [keyof TokenUsage, number][])
        tokens[key] = (tokens[key] ?? 0) + count;
    }
  }

  function conclude(status: TaskResult["status"], result: string): TaskResult {
    return {
      task,
      status,
      result,
      durationMs: clock.now() - started,
      toolsUsed: [...toolsUsed],
      tokens,
    };
  }

  function withHooks(tool: KarlTool): KarlTool {
    const { name: toolName, description, parameters } = tool;
    return {
      name: toolName,
      description,
      parameters,
      async execute(id, args, toolSignal) {
        await callHook("pre-tool", { toolName, args });
        try {
          const result = await tool.execute(id, args, toolSignal);
          await callHook("post-tool", { toolName, args, result });
          return result;
        } catch (error) {
          await callHook("post-tool", { toolName, args, error });
          throw error;
        }
      },
    };
  }

  async function callHook(hook: HookName, about: Omit<HookContext, "task"> = {}): Promise<void> {
    try {
      await within(MAX_HOOK_MS, Promise.resolve(hooks[hook]?.({ task, ...about })));
    } catch (error) {
      onEvent({ type: "hook_error", hook, error });
    }
  }

  /** Settles with the work, or resolves after `ms` or when the task is aborted. */
  function within(ms: number, work: Promise<unknown>): Promise<unknown> {
    let release = (): void => {};
    const stopped = new Promise<void>((resolve) => {
      const cancel = clock.setTimer(ms, resolve);
      const stop = (): void => resolve();
      signal?.addEventListener("abort", stop);
      if (signal?.aborted === true) resolve();
      release = () => {
        cancel();
        signal?.removeEventListener("abort", stop);
      };
    });
    return Promise.race([work, stopped]).finally(() => release());
  }
}
