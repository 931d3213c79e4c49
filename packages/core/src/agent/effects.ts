/**
 * The loop's effects go through this one port, so that a session file or a durable engine can record each step and skip the
 * finished ones when a run is taken up again. In memory by default.
 */
import type { AgentEvent, AgentMessage } from "./event.ts";

/** What a step is, for whoever records it. */
export type StepAbout =
  | { readonly kind: "model"; readonly turn: number }
  | {
      readonly kind: "tool";
      readonly toolCallId: string;
      readonly toolName: string;
      /** Checked arguments, as the tool will get them. */
      readonly args: unknown;
      readonly replay: "never" | "safe";
      readonly idempotencyKey: string;
    };

export type InboxKind = "steering" | "followUp";

export interface Effects {
  /**
   * Runs `fn` once for this name and gives its result, which is JSON-safe. An engine records the intent before and the result
   * after, and gives a recorded result without running `fn`. Names are stable: `model:<turn>`, `tool:<turn>:<call id>`.
   */
  step<T>(name: string, fn: () => Promise<T>, about: StepAbout): Promise<T>;
  /** Resolves when something outside (a person, another process) answers under this name. Rejects when `signal` fires. */
  waitFor<T>(name: string, signal?: AbortSignal): Promise<T>;
  /** Takes the queued messages that are due now. */
  inbox(kind: InboxKind): readonly AgentMessage[] | Promise<readonly AgentMessage[]>;
  /** Hands an event to whoever listens. A rejection ends the run with `listener_failed`. */
  publish(event: AgentEvent): void | PromiseLike<void>;
}

/** Effects that stay in this process. `answer` is the other end of {@link Effects.waitFor}. */
export interface MemoryEffects extends Effects {
  answer(name: string, value: unknown): void;
}

export function createMemoryEffects(ports: Partial<Pick<Effects, "inbox" | "publish">> = {}): MemoryEffects {
  const waiting = new Map<string, (value: unknown) => void>();
  const answers = new Map<string, unknown>();
  return {
    step: (_name, fn) => fn(),
    waitFor: <T>(name: string, signal?: AbortSignal) =>
      new Promise<T>((resolve, reject) => {
        const settle = (value: unknown): void => {
          waiting.delete(name);
          answers.delete(name);
          signal?.removeEventListener("abort", leave);
          resolve(value as T);
        };
        const leave = (): void => {
          waiting.delete(name);
          reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
        };
        if (answers.has(name)) return settle(answers.get(name));
        if (signal?.aborted === true) return leave();
        waiting.set(name, settle);
        signal?.addEventListener("abort", leave, { once: true });
      }),
    answer(name, value) {
      const settle = waiting.get(name);
      if (settle === undefined) answers.set(name, value);
      else settle(value);
    },
    inbox: ports.inbox ?? (() => []),
    publish: ports.publish ?? (() => {}),
  };
}
