/** Waits for what happens by itself. */
import assert from "node:assert/strict";

/** A longer wait counts as hanging, even on a busy machine. In milliseconds. */
const LIMIT_MS = 60_000;

/** Waits until `isSo` holds. */
export async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  while (!isSo()) {
    if (performance.now() > end)
      assert.fail(`It did not happen within ${LIMIT_MS} ms: ${String(isSo)}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
