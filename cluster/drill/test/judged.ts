/** What the checks of the drill find in forged evidence. */
import assert from "node:assert/strict";
import { findFaults } from "../checks/all-checks.ts";
import type { Evidence } from "../evidence.ts";
import { forged, type Forged } from "./forged.ts";

export function found(evidence: Evidence): string[] {
  return findFaults(evidence).map(({ check, text }) => `${check}: ${text}`);
}

export function assertFound(evidence: Evidence, pattern: RegExp): void {
  const all = found(evidence);
  assert.ok(
    all.some((text) => pattern.test(text)),
    `${pattern} is not in ${JSON.stringify(all, null, 1)}`,
  );
}

/** Good evidence with a change. */
export function after(change: (evidence: Forged) => void): Evidence {
  const evidence = forged();
  change(evidence);
  return evidence;
}
