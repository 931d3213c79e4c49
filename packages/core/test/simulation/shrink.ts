/** Shrinks a plan: parts are removed one by one while it still fails in the same way. */
import type { Plan } from "./plan.ts";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The fields that a plan must have; all others may be absent. */
const needed = new Set(
  (
    "seed agents face settings tools answers starts actions hooks listeners parts calls kind type does on at hook call from " +
    "name id tool args pieces code message retryable"
  ).split(" "),
);

/** `fails` returns whether a plan still fails in the same way. Tries at most `tries` plans. */
export async function shrink(
  plan: Plan,
  fails: (candidate: Plan) => Promise<boolean>,
  tries = 1000,
): Promise<Plan> {
  let smallest = plan;
  let left = tries;
  for (let found = true; found && left > 0;) {
    found = false;
    for (const candidate of smaller(smallest as unknown as Json)) {
      if (left-- <= 0) break;
      if (!(await fails(candidate as unknown as Plan))) continue;
      smallest = candidate as unknown as Plan;
      found = true;
      break;
    }
  }
  return smallest;
}

/** The value with one part removed, the largest parts first. */
function* smaller(value: Json): Generator<Json> {
  if (Array.isArray(value)) {
    for (const index of value.keys()) yield value.toSpliced(index, 1);
    for (const [index, item] of value.entries())
      for (const less of smaller(item)) yield value.with(index, less);
  } else if (typeof value === "object" && value !== null) {
    for (const key of Object.keys(value)) {
      if (needed.has(key)) continue;
      const { [key]: _, ...rest } = value;
      yield rest;
    }
    for (const [key, item] of Object.entries(value)) {
      if (key !== "seed") for (const less of smaller(item)) yield { ...value, [key]: less };
    }
  } else if (typeof value === "number" && value > 0) {
    yield 0;
    if (value > 1) yield Math.floor(value / 2);
  }
}
