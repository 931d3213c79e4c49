/** The interface of a run for its hooks and tools. */
import { BowlineError } from "../../errors.ts";
import { waitOptions } from "../contract/effects.ts";
import type { RunPort } from "../contract/run-port.ts";
import type { Run } from "./run.ts";
import type { StepChanges } from "./step-changes.ts";

/**
 * Creates the port for hooks and tools: between steps, within a recorded decision, or within a step,
 * which collects its changes. Returns a plain object, because hooks may destructure its functions.
 */
export function portTo(run: Run, inside?: "decision" | StepChanges): RunPort {
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
    `Cannot wait for "${name}" here, because the run's engine records this tool or hook as one step. Return "ask" from beforeToolCall, or use requireApproval().`,
  );
}
