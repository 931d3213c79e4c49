/** The kit of effects in three parts, so that each test file takes seconds. */
import { describe, it } from "node:test";
import { approvalScenarios } from "../../src/testing/effects/approval-scenarios.ts";
import { budgetScenarios } from "../../src/testing/effects/budget-scenarios.ts";
import { toolScenarios } from "../../src/testing/effects/tools-scenarios.ts";
import { effectsConformance } from "../../src/testing/index.ts";
import { within } from "../../../../test/support/within.ts";

const parts = { tools: toolScenarios, approvals: approvalScenarios, budgets: budgetScenarios };

type CreateHarness = Parameters<typeof effectsConformance>[0];

/** Adds the cases of a part. Cases of no part are in each. */
export function describePart(
  part: keyof typeof parts,
  title: string,
  createHarness: CreateHarness,
  options: { readonly replays: boolean },
): void {
  const others = Object.entries(parts).filter(([name]) => name !== part);
  const names = others.flatMap(([, scenarios]) => Object.keys(scenarios));
  const left = new Set(names.map((name) => `survives a stop at each moment of ${name}`));
  describe(`${title}: ${part}`, () => {
    for (const { name, run } of effectsConformance(createHarness, options))
      if (!left.has(name)) it(name, () => within(name, run()));
  });
}
