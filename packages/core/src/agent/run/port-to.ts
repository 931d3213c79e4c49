/** The interface of a run for its hooks and tools. */
import { BowlineError } from "../../errors.ts";
import { waitOptions, type Effects, type WaitOptions } from "../contract/effects.ts";
import type { RunPort } from "../contract/run-port.ts";
import type { AbortGrace } from "./abort-grace.ts";
import type { Emitter } from "./emitter.ts";
import type { Spending } from "./spending.ts";
import type { StepChanges } from "./step-changes.ts";

/** The parts of a run that its port gives access to. */
interface Opened extends Pick<RunPort, "clock" | "approvedTools" | "decide"> {
  readonly id: string;
  readonly effects: Pick<Effects, "patience">;
  readonly emitter: Emitter;
  readonly grace: AbortGrace;
  readonly spending: Spending;
  readonly memory: Map<string, unknown>;
  readonly signal: AbortSignal;
  readonly isEnding: boolean;
  wait<T>(name: string, options: WaitOptions): Promise<T>;
}

/**
 * Creates the port for hooks and tools: between steps, within a recorded decision, or within a step,
 * which collects its changes. Returns a plain object, because hooks may destructure its functions.
 */
export function portTo(run: Opened, inside?: "decision" | StepChanges): RunPort {
  const { id: runId, clock, grace, spending, memory, effects } = run;
  const changes = inside === "decision" ? undefined : inside;
  const isRecorded = inside !== undefined && effects.patience !== undefined;
  return {
    runId,
    clock,
    budget: changes?.budget ?? spending.budget,
    get abortGraceMs() {
      return grace.ms;
    },
    approvedTools: run.approvedTools,
    memory: {
      get: (name) => memory.get(name),
      set(name, value) {
        memory.set(name, value);
        changes?.remember(name, value);
      },
    },
    emit(event) {
      if (run.isEnding) return undefined; // a nested run may outlive this one
      changes?.keep(event);
      return run.emitter.emit(event);
    },
    addUsage(usage, budget) {
      changes?.addUsage(usage);
      spending.add(usage, budget);
    },
    waitFor(name, options) {
      if (isRecorded) return Promise.reject(noWait(name));
      const { signal = run.signal, ...rest } = waitOptions(options);
      return run.wait(name, { signal, ...rest });
    },
    decide: (name, fn) => (isRecorded ? fn() : run.decide(name, fn)),
  };
}

function noWait(name: string): BowlineError {
  return new BowlineError(
    "invalid_state",
    `Cannot wait for "${name}" in a recorded step. Return "ask" from beforeToolCall, or use requireApproval().`,
  );
}
