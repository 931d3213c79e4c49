/**
 * The port for the loop's effects. A session file or a durable engine implements it to record each
 * step, and to skip finished steps when a run resumes. The default implementation is in memory.
 */
import { onAbort } from "../../clock.ts";
import { BowlineError } from "../../errors.ts";
import { defined, type Optional } from "../../json-value.ts";
import type { AgentMessage } from "./agent-message.ts";
import type { AgentEvent } from "./event.ts";
import type { SettledCall } from "./tool-result.ts";

/** Describes a step to the engine that records it. */
export type StepAbout =
  | { readonly kind: "model"; readonly turn: number }
  | {
      readonly kind: "tool";
      readonly toolCallId: string;
      readonly toolName: string;
      /** The validated arguments that the tool receives. */
      readonly args: unknown;
      readonly replay: "never" | "safe";
      readonly idempotencyKey: string;
    };

export type InboxKind = "steering" | "followUp";

export interface Effects {
  /**
   * Runs `fn` once for this name and resolves with its JSON-safe result. An engine records the
   * intent before and the result after. It returns a recorded result without running `fn`. Names
   * are stable: `model:<turn>`, `tool:<turn>:<call id>`. A rejection ends the run with its error. A
   * step that is pending when the abort grace period ends also ends the run. The result of `fn`
   * then counts, and an `fn` that has not started never runs.
   */
  step<T>(name: string, fn: () => Promise<T>, about: StepAbout): Promise<T>;
  /**
   * Returns the recorded result of a tool's step. It is called before approval and before the tool
   * runs. For a call that started and must not be repeated, it returns a result that says so.
   * Undefined, or no such method, means that the call may run. It is also called for calls of a
   * run's last answer that have results in the transcript, because results there do not say whether
   * they ended the run. A rejection ends the run with its error. The abort grace period applies as
   * for `step`.
   */
  recorded?(name: string): Promise<SettledCall | undefined> | SettledCall | undefined;
  /**
   * Resolves when a person or another process answers under this name. Rejects when `signal` fires.
   */
  waitFor<T>(name: string, signal?: AbortSignal): Promise<T>;
  /**
   * The names of tools that a person has allowed, for all runs that get this set. Absent: each run
   * has its own set.
   */
  readonly approvedTools?: Set<string>;
  /** Returns whether messages of this kind are queued, without taking them. Absent: unknown. */
  hasQueued?(kind: InboxKind): boolean;
  /** Removes and returns the queued messages that are due now. */
  inbox(kind: InboxKind): readonly AgentMessage[] | Promise<readonly AgentMessage[]>;
  /** Puts messages back that `inbox` delivered after the run had stopped waiting. */
  giveBack?(kind: InboxKind, messages: readonly AgentMessage[]): void;
  /**
   * Passes an event to each listener in turn, with `hear`, after the previous listener is done.
   * Never throws or rejects.
   */
  publish(event: AgentEvent, hear: Hear): void | Promise<void>;
}

/**
 * Calls a listener and waits for it up to its time limit. Returns undefined when there is nothing
 * to wait for. Never throws or rejects: a listener that fails ends the run with `listener_failed`.
 */
export type Hear = (
  listener: (event: AgentEvent) => unknown,
  event: AgentEvent,
) => Promise<void> | undefined;

/** Effects in the memory of this process. */
export interface MemoryEffects extends Effects {
  readonly approvedTools: Set<string>;
  /**
   * Resolves all pending {@link Effects.waitFor} calls of this name with `value`. Returns false
   * when there are none.
   */
  answer(name: string, value: unknown): boolean;
}

/** Creates effects in memory. The methods of `ports`, a plain object, replace the default ones. */
export function createMemoryEffects(ports?: Partial<Effects>): MemoryEffects {
  /** Pending waits and their names. */
  const waiting = new Map<(value: unknown) => void, string>();
  return {
    step: (_name, fn) => fn(),
    approvedTools: new Set(),
    waitFor: <T>(name: string, signal?: AbortSignal) =>
      new Promise<T>((resolve, reject) => {
        const settle = (value: unknown): void => {
          waiting.delete(settle);
          release();
          resolve(value as T);
        };
        waiting.set(settle, name);
        const release = onAbort(signal, () => {
          waiting.delete(settle);
          reject(new BowlineError("aborted", "The wait was aborted."));
        });
      }),
    answer(name, value) {
      const found = [...waiting].filter(([, under]) => under === name);
      for (const [settle] of found) settle(value);
      return found.length > 0;
    },
    inbox: () => [],
    publish: () => {},
    ...ports,
  };
}

/**
 * Returns the given ports, bound to their object, for spreading into an object literal. A spread
 * does not copy the methods of a class, and unbound methods lose their object.
 */
export function portsOf(ports: Optional<Effects> | undefined): Partial<Effects> {
  return defined({
    step: ports?.step?.bind(ports),
    recorded: ports?.recorded?.bind(ports),
    waitFor: ports?.waitFor?.bind(ports),
  });
}
