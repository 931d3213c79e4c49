/** The types of karl's task runner. */
import type { Message } from "./message.ts";
import type { KarlTool, ToolResult } from "./tool.ts";
import type { AgentLoopConfig, TokenUsage } from "./types.ts";

export type HookName = "pre-task" | "post-task" | "pre-tool" | "post-tool" | "on-error";

/** The input of a hook. Fields are set if known at that point. */
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
  /** Emitted before the tool starts. */
  | { type: "tool_start"; toolName: string; args: Record<string, unknown> }
  | { type: "tool_end"; toolName: string; result: ToolResult; isError: boolean }
  | { type: "task_complete"; result: TaskResult }
  | { type: "task_error"; error: Error }
  /** `attempt`, from 1, failed. The next one continues its transcript after `delayMs`. */
  | { type: "task_retry"; attempt: number; delayMs: number; error: Error }
  | { type: "hook_error"; hook: HookName; error: unknown };

export interface TaskOptions extends Omit<AgentLoopConfig, "apiFormat" | "thinkingEvents"> {
  task: string | readonly Message[];
  systemPrompt?: string;
  tools?: readonly KarlTool[];
  /** `anthropic` uses Anthropic's format, any other value OpenAI's. */
  providerType: string;
  /** Time limit of one attempt, in milliseconds. Default: no limit. */
  timeoutMs?: number;
  /**
   * Default: 3 attempts, with a delay of 1 s, doubled each time, at most 60 s. If a server asks for
   * a longer delay, the task is not retried.
   */
  retry?: { attempts?: number; delayMs?: number; maxDelayMs?: number };
  /**
   * Hooks are awaited for at most 30 s each. A failing hook emits `hook_error`; it cannot stop the
   * task or a tool.
   */
  hooks?: Partial<Record<HookName, (context: HookContext) => unknown>>;
  onEvent?: (event: TaskEvent) => void;
}

export interface TaskResult {
  readonly task: TaskOptions["task"];
  readonly status: "success" | "error";
  /** The last answer's text, or the error's message. */
  readonly result: string;
  readonly error?: Error;
  /**
   * The model's last answer. After an error, the last answer with text, of all attempts. Absent if
   * there is none.
   */
  readonly answer?: Message;
  readonly durationMs: number;
  /** Tool names without duplicates, in the order of first use. */
  readonly toolsUsed: readonly string[];
  /** The sum over all model calls. */
  readonly tokens: TokenUsage;
}

/**
 * Runs a task. Rejects only with a listener's error; failures of the model, a tool or a hook are in
 * the result. A retry continues from the transcript of the failed attempt, so no tool runs again.
 */
export type RunTask = (options: TaskOptions) => Promise<TaskResult>;
