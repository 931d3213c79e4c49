/**
 * The loop's effects go through this one port, so that a session file or a durable engine can
 * record each step and skip the finished ones when a run is taken up again. In memory by default.
 */
import { onAbort } from "../../clock.ts";
import { BowlineError } from "../../errors.ts";
import { defined, type Optional } from "../../json-value.ts";
import type { AgentMessage } from "./agent-message.ts";
import type { AgentEvent } from "./event.ts";
import type { SettledCall } from "./tool-result.ts";

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
   * Runs `fn` once for this name and gives its result, which is JSON-safe. An engine records the
   * intent before and the result after, and gives a recorded result without running `fn`. Names are
   * stable: `model:<turn>`, `tool:<turn>:<call id>`. One that rejects ends the run with its error,
   * and so does one that is not done when the grace of an abort is over: what `fn` came to counts
   * then, and if it was not begun it does nothing any more.
   */
  step<T>(name: string, fn: () => Promise<T>, about: StepAbout): Promise<T>;
  /**
   * What is known of a tool's step before it is asked about or begun: its result, or, for one that
   * began and must not be repeated, a result that says so. Absent or undefined: nothing, it may
   * run. Asked also about calls of a run's last answer whose results are in the transcript, which
   * do not say whether they ended the run. One that rejects ends the run with its error. Waited for
   * as `step` is.
   */
  recorded?(name: string): Promise<SettledCall | undefined> | SettledCall | undefined;
  /**
   * Resolves when something outside (a person, another process) answers under this name. Rejects
   * when `signal` fires.
   */
  waitFor<T>(name: string, signal?: AbortSignal): Promise<T>;
  /**
   * The names of tools that a person has allowed for as long as this set is handed to runs. Absent:
   * each run has its own.
   */
  readonly approvedTools?: Set<string>;
  /** Whether messages of this kind wait; nothing is taken. Absent: not known. */
  hasQueued?(kind: InboxKind): boolean;
  /** Takes the queued messages that are due now. */
  inbox(kind: InboxKind): readonly AgentMessage[] | Promise<readonly AgentMessage[]>;
  /** Takes back what `inbox` gave when the run no longer waited for it. */
  giveBack?(kind: InboxKind, messages: readonly AgentMessage[]): void;
  /**
   * Hands an event to whoever listens: to each by `hear`, when the one before has heard it. Never
   * throws or rejects.
   */
  publish(event: AgentEvent, hear: Hear): void | Promise<void>;
}

/**
 * Calls a listener and waits for it as long as it may take; undefined when there is nothing to wait
 * for. Never throws or rejects: a listener that fails ends the run with `listener_failed`.
 */
export type Hear = (
  listener: (event: AgentEvent) => unknown,
  event: AgentEvent,
) => Promise<void> | undefined;

/** Effects that stay in this process. */
export interface MemoryEffects extends Effects {
  readonly approvedTools: Set<string>;
  /**
   * The other end of {@link Effects.waitFor}: hands `value` to all who wait under this name. False
   * when nobody does.
   */
  answer(name: string, value: unknown): boolean;
}

/** `ports`, a plain object, are in the place of its own. */
export function createMemoryEffects(ports?: Partial<Effects>): MemoryEffects {
  /** The name under which each waits. */
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
 * Those of the ports that are there, to be spread: the methods of a class are found by name alone,
 * and need their object.
 */
export function portsOf(ports: Optional<Effects> | undefined): Partial<Effects> {
  return defined({
    step: ports?.step?.bind(ports),
    recorded: ports?.recorded?.bind(ports),
    waitFor: ports?.waitFor?.bind(ports),
  });
}
