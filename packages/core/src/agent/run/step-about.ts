import type { ToolStep } from "../contract/step.ts";
import { keyOf, namesOf } from "./call-names.ts";
import type { Ready } from "./preflight.ts";
import type { Run } from "./run.ts";

/** Returns the description of the call's step. */
export function stepAbout(run: Run, { call, tool, args }: Ready): ToolStep {
  return {
    kind: "tool",
    ...namesOf(call),
    args,
    replay: tool.replay ?? "never",
    idempotencyKey: keyOf(run, call),
  };
}
