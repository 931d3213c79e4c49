/** Calls the hooks of a task. */
import { systemClock, type Clock } from "@bowline/core";
import type { KarlTool } from "./tool.ts";
import type { HookContext, HookName, TaskEvent, TaskOptions } from "./task-types.ts";

const MAX_HOOK_MS = 30_000;

type HookOptions = Pick<TaskOptions, "task" | "hooks" | "clock" | "signal">;

export class TaskHooks {
  readonly #options: HookOptions;
  readonly #tell: (event: TaskEvent) => void;

  constructor(options: HookOptions, tell: (event: TaskEvent) => void) {
    this.#options = options;
    this.#tell = tell;
  }

  /** Awaits a hook for at most 30 s. Throws only if the listener of `hook_error` throws. */
  async call(hook: HookName, about: Omit<HookContext, "task"> = {}): Promise<void> {
    const { task, hooks = {}, clock, signal } = this.#options;
    try {
      const called = Promise.resolve(hooks[hook]?.({ task, ...about }));
      await within(MAX_HOOK_MS, called, clock, signal);
    } catch (error) {
      this.#tell({ type: "hook_error", hook, error });
    }
  }

  /** Wraps a tool with `pre-tool` and `post-tool` around each call. */
  around(tool: KarlTool): KarlTool {
    const { name: toolName, description, parameters } = tool;
    const execute: KarlTool["execute"] = async (id, args, signal) => {
      await this.call("pre-tool", { toolName, args });
      try {
        const result = await tool.execute(id, args, signal);
        await this.call("post-tool", { toolName, args, result });
        return result;
      } catch (error) {
        await this.call("post-tool", { toolName, args, error });
        throw error;
      }
    };
    return { name: toolName, description, parameters, execute };
  }
}

/** Settles with the work, or resolves after `ms` or when the signal fires. */
export async function within(
  ms: number,
  work: Promise<unknown>,
  clock: Clock = systemClock,
  signal?: AbortSignal,
): Promise<void> {
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
  await Promise.race([work, stopped]).finally(() => release());
}
