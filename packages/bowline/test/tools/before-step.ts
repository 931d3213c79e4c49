/** Moments at which another program changes a file that a tool has open, without a clock. */
import { open, type FileHandle } from "node:fs/promises";
import type { TestContext } from "node:test";

type Step = "read" | "readFile" | "stat" | "sync" | "writeFile";

/**
 * Calls the action with 1, 2, ... just before each call of a method of any open file, until the
 * test ends.
 */
export async function beforeStep(
  context: TestContext,
  step: Step,
  action: (call: number) => void,
): Promise<void> {
  let calls = 0;
  await replace(context, step, async (original) => {
    action(++calls);
    return original();
  });
}

/** The same, just after each call. */
export async function afterStep(
  context: TestContext,
  step: Step,
  action: (call: number) => void,
): Promise<void> {
  let calls = 0;
  await replace(context, step, async (original) => {
    const result = await original();
    action(++calls);
    return result;
  });
}

async function replace(
  context: TestContext,
  step: Step,
  replacement: (original: () => unknown) => unknown,
): Promise<void> {
  const handle = await open("/dev/null");
  await handle.close();
  const prototype = Object.getPrototypeOf(handle) as Record<Step, (...args: unknown[]) => unknown>;
  const original = prototype[step];
  context.mock.method(prototype, step, function (this: FileHandle, ...args: unknown[]): unknown {
    return replacement(() => original.apply(this, args));
  });
}
