/** A reporter for `node --test`: writes a line of JSON for each failed test, at once. */
import type { TestEvent } from "node:test/reporters";

export interface Failure {
  readonly title: string;
  /** True if the test exceeded its time limit, so that it found nothing. */
  readonly isLate: boolean;
}

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== "test:fail" || event.data.skip !== undefined) continue;
    if (event.data.todo !== undefined) continue;
    const { name: title, details } = event.data;
    const kinds = kindsOf(details.error);
    // A suite fails if its tests fail. Those were reported already.
    if (kinds.includes("subtestsFailed")) continue;
    const failure: Failure = { title, isLate: kinds.includes("testTimeoutFailure") };
    yield `${JSON.stringify(failure)}\n`;
  }
}

/**
 * Returns the failure types of an error and its causes. A hook that exceeds its time limit has both
 * types.
 */
function kindsOf(error: unknown): unknown[] {
  const kinds: unknown[] = [];
  for (let at = error; at instanceof Error; at = at.cause)
    kinds.push("failureType" in at ? at.failureType : undefined);
  return kinds;
}
