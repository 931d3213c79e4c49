/** The shapes of karl's runner. */
import type { Message } from "./message.ts";
import type { KarlTool, ToolResult } from "./tool.ts";
import type { AgentLoopConfig, TokenUsage } from "./types.ts";

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
  /** The tool has not started yet. */
  | { type: "tool_start"; toolName: string; args: Record<string, unknown> }
  | { type: "tool_end"; toolName: string; result: ToolResult; isError: boolean }
  | { type: "task_complete"; result: TaskResult }
  | { type: "task_error"; error: Error }
  /** `attempt`, from 1, failed; the next one goes on from what it left after `delayMs`. */
  | { type: "task_retry"; attempt: number; delayMs: number; error: Error }
  | { type: "hook_error"; hook: HookName; error: unknown };

export interface TaskOptions extends Omit<AgentLoopConfig, "apiFormat" | "thinkingEvents"> {
  task: string | readonly Message[];
  systemPrompt?: string;
  tools?: readonly KarlTool[];
  /** `anthropic` speaks Anthropic's format, any other OpenAI's. */
  providerType: string;
  /** Of one attempt, in milliseconds. Default: no limit. */
  timeoutMs?: number;
  /**
   * Default: 3 attempts, after 1 s, doubling, at most 60 s. A server that asks for a longer wait is
   * not asked again.
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
  /**
   * The last answer of the model; after an error the last one with text, of all attempts. Absent
   * when there is none.
   */
  readonly answer?: Message;
  readonly durationMs: number;
  /** Names, each once, in the order of their first use. */
  readonly toolsUsed: readonly string[];
  /** The sum over all model calls. */
  readonly tokens: TokenUsage;
}

/**
 * Runs a task. Rejects only with what a listener threw: what a model, a tool or a hook did, the
 * result says. A further attempt goes on from the transcript of the one before, so no tool runs
 * again.
 */
export type RunTask = (options: TaskOptions) => Promise<TaskResult>;
