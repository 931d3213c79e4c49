/** For `node --test`: a line of JSON for each test that failed, as it fails. */
import type { TestEvent } from "node:test/reporters";

export interface Failure {
  readonly title: string;
  /** Whether the test only ran out of time: it noticed nothing. */
  readonly isLate: boolean;
}

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== "test:fail" || event.data.skip !== undefined) continue;
    if (event.data.todo !== undefined) continue;
    const { name: title, details } = event.data;
    const kinds = kindsOf(details.error);
    // A suite fails with the tests in it, which were reported before.
    if (kinds.includes("subtestsFailed")) continue;
    const failure: Failure = { title, isLate: kinds.includes("testTimeoutFailure") };
    yield `${JSON.stringify(failure)}\n`;
  }
}

/** A hook that ran out of time fails as a hook, because of a time limit. */
function kindsOf(error: unknown): unknown[] {
  const kinds: unknown[] = [];
  for (let at = error; at instanceof Error; at = at.cause)
    kinds.push("failureType" in at ? at.failureType : undefined);
  return kinds;
}
