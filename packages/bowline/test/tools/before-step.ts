/** Lets another program change a file at an exact step of a tool, without timers. */
import { open, type FileHandle } from "node:fs/promises";
import type { TestContext } from "node:test";

type Step = "read" | "readFile" | "stat" | "sync" | "writeFile";

/**
 * Calls the action with 1, 2, ... before each call of a method of any open file, until the test
 * ends.
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

/** Like `beforeStep`, but after each call. */
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
