/** The form of a scenario: what the model answers, which tools it has, and what happens meanwhile. */
import type { AgentMessage } from "../../agent/contract/agent-message.ts";
import type { AgentLoopConfig } from "../../agent/contract/hooks.ts";
import type { AgentTool } from "../../agent/contract/tool.ts";
import type { RunResult } from "../../agent/run/run-result.ts";
import type { Clock } from "../../clock.ts";
import type { StreamFn } from "../../llm/model.ts";
import type { ScriptedStep } from "../scripted-model.ts";
import type { EffectsHarness } from "./harness.ts";

/** What an attempt gives to the parts of a scenario. */
export interface World {
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  readonly harness: EffectsHarness;
  readonly clock: Clock;
  /** How long the medium itself takes for a run, in milliseconds, at most. 0 with the clock of the cases. */
  readonly overheadMs: number;
  /** Waits on the clock of the case, at most until the signal fires. */
  sleep(this: void, ms: number, signal?: AbortSignal): Promise<void>;
  /** Does something once for all attempts. */
  once(this: void, name: string, work: () => unknown): Promise<void>;
  /** Wraps the run's stream function. */
  readonly streamFn: StreamFn;
}

/** The end of a run. */
export interface End {
  readonly result: RunResult;
  readonly messages: readonly AgentMessage[];
  /** Milliseconds from the start of the first attempt. */
  readonly elapsed: number;
}

export interface Scenario {
  /** The model's answers, by the number of answers before. */
  readonly answers: readonly ScriptedStep[] | ((world: World) => readonly ScriptedStep[]);
  readonly tools?: (world: World) => AgentTool[];
  /** Settings of the loop, made anew for each attempt, as in another process. */
  readonly config?: (world: World) => Partial<AgentLoopConfig> & { readonly streamFn?: StreamFn };
  readonly output?: unknown;
  /** Called when the run waits for an answer. */
  readonly onWait?: (world: World, name: string) => unknown;
  /** Time that passes between two attempts, in milliseconds. */
  readonly downtimeMs?: number;
  /** Throws unless the run ended as the scenario means. `wasStopped`: after another attempt. */
  check(end: End, wasStopped: boolean): void;
  /**
   * How a stopped run ends. `same`: as one that was not stopped. `checked`: as `check` says, because
   * its end depends on the time, or on the moment of an abort. `once decided`: the same if the stop
   * came after a call whose name starts so.
   */
  readonly ends?: "same" | "checked" | { readonly onceDecided: string };
  /**
   * Which harnesses it is for. `replays`: those whose attempts replay the loop, because others do not
   * record what it is about. Default: all.
   */
  readonly only?: "replays";
}
