/** Waits for what happens by itself. */
import assert from "node:assert/strict";
import { PATIENCE_MS } from "./within.ts";

/** Waits until `isSo` holds. */
export async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!isSo()) {
    if (performance.now() > end)
      assert.fail(`It did not happen within ${PATIENCE_MS} ms: ${String(isSo)}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
