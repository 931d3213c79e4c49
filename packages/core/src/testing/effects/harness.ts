/** What the cases for effects need from an engine. */
import type { Clock } from "../../clock.ts";
import type { AgentMessage } from "../../agent/contract/agent-message.ts";
import type { Effects, InboxKind } from "../../agent/contract/effects.ts";
import type { AgentLoopConfig } from "../../agent/contract/hooks.ts";
import type { AgentTool } from "../../agent/contract/tool.ts";
import type { RunResult } from "../../agent/run/run-result.ts";
import type { StreamFn } from "../../llm/model.ts";

/** One run, and the medium that its attempts share. */
export interface EffectsHarness {
  /**
   * True if each attempt calls the loop from its start, over the record of the attempts before.
   * False if it continues from the transcript, as a session does.
   */
  readonly replays: boolean;
  /** True if another attempt may follow after the run's end, which then replays all of it. */
  readonly canRepeat?: boolean | undefined;
  /**
   * The clock of a medium whose time moves by itself, such as that of a server. Waits of the cases then
   * take as long as they say, and attempts may take `hangMs`. Default: a clock of the cases, which
   * moves when nothing else can happen; the medium must then take its time from the configuration.
   */
  readonly clock?: Clock | undefined;
  /**
   * How long the medium itself takes for a run with one restart, in milliseconds, at most. Bounds that
   * a case sets to the time of a run leave it out. Counts with `clock` only. Keep it below 4,000: an
   * abort that is not heeded takes 5,000 longer. Default 0.
   */
  readonly overheadMs?: number | undefined;
  /**
   * After this long, in milliseconds, an attempt that has neither ended nor been stopped counts as one
   * that hangs. Counts with `clock` only. Default 30,000.
   */
  readonly hangMs?: number | undefined;
  /**
   * Starts the first attempt at the run, or the next one after `stopped` of the last one fired.
   * Resolves with the result of the run. Rejects, with the name of the call, if the calls of the
   * attempt are not those of the record. The promise of a stopped attempt is ignored.
   */
  attempt(setup: AttemptSetup): Promise<RunResult>;
  /** Gives the answer to a wait, as a person would. Resolves when it cannot be lost. */
  answer(name: string, value: unknown): void | Promise<void>;
  /** Queues a message for the run. Resolves when it cannot be lost. */
  push(kind: InboxKind, message: AgentMessage): void | Promise<void>;
  /** Asks for the abort of the run. */
  abort(): void | Promise<void>;
  /** The messages of the run, with its prompt, after its end. */
  transcript(): readonly AgentMessage[] | Promise<readonly AgentMessage[]>;
  /** Whether the medium is at work, so that the clock of the cases must not move. */
  isBusy?(): boolean;
  /** Called after the case. */
  dispose?(): unknown;
}

/** What an attempt runs. */
export interface AttemptSetup {
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  readonly prompt: AgentMessage;
  /** The configuration of the loop, with the clock of the case. */
  readonly config: AgentLoopConfig;
  readonly tools: AgentTool[];
  readonly streamFn: StreamFn;
  /** The schema of the run's output. Undefined: none. */
  readonly output: unknown;
  /**
   * Returns effects that report to the case and may stop the attempt. Pass the engine's effects
   * through it before the loop gets them.
   */
  watch<T extends Partial<Effects>>(this: void, effects: T): T;
  /** Call it when the run waits for an answer under this name. */
  onWait(this: void, name: string): void;
  /** Fires when the attempt is stopped, as if its process had died. */
  readonly stopped: AbortSignal;
}
