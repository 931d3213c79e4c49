/** Reports a task's events to its listener, and counts tools and tokens for the result. */
import type { AgentEvent, TokenUsage } from "./types.ts";
import type { TaskEvent, TaskOptions, TaskResult } from "./task-types.ts";

export class TaskReport {
  readonly toolsUsed: Set<string> = new Set();
  readonly tokens: TokenUsage = {};
  readonly #listener: TaskOptions["onEvent"];
  #thrown: { readonly error: unknown } | undefined;

  constructor(listener: TaskOptions["onEvent"]) {
    this.#listener = listener;
  }

  /**
   * Calls the listener. After it has thrown, it is not called again, and every later event throws
   * the same error. This is needed because the loop would treat an error thrown inside a tool as
   * the tool's failure.
   */
  tell(event: TaskEvent): void {
    this.check();
    try {
      this.#listener?.(event);
    } catch (error) {
      this.#thrown = { error };
    }
    this.check();
  }

  /** Throws the listener's error, if it threw one. */
  check(): void {
    if (this.#thrown) throw this.#thrown.error;
  }

  /** Reports and counts an event of the loop. */
  add(event: AgentEvent): void {
    if (event.type === "text_delta") this.tell({ ...event, type: "thinking" });
    else if (event.type === "tool_execution_end") this.tell({ ...event, type: "tool_end" });
    else if (event.type === "tool_execution_start") {
      this.toolsUsed.add(event.toolName);
      this.tell({ ...event, type: "tool_start" });
    } else if (event.type === "message_end") this.#count(event.usage ?? {});
  }

  /** The counts for the result. */
  get counts(): Pick<TaskResult, "toolsUsed" | "tokens"> {
    return { toolsUsed: [...this.toolsUsed], tokens: this.tokens };
  }

  #count(usage: TokenUsage): void {
    for (const [key, count] of Object.entries(usage) as [keyof TokenUsage, number][])
      this.tokens[key] = (this.tokens[key] ?? 0) + count;
  }
}
