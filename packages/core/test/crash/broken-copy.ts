/** Deliberately broken copies of the library, to verify that the kill test detects the breakage. */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Breakage {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The problem that the kill test must report. */
  readonly found: RegExp;
}

export const breakages = {
  "the intent is written after the tool ran": {
    file: "session/record-call.ts",
    from: "  await log.add(intent, () => ({ ...intent, args: inJson(intent.args) }));\n  let result = (await run()) as ToolStepResult;\n",
    to: "  let result = (await run()) as ToolStepResult;\n  await log.add(intent, () => ({ ...intent, args: inJson(intent.args) }));\n",
    found: /has an effect and no intent/,
  },
  "a call that was begun is run again": {
    file: "session/recorded-calls.ts",
    from: "  if (result !== undefined) return result.result as ToolStepResult;\n  return",
    to: "  if (intent !== undefined || result !== undefined) return undefined;\n  return",
    found: /ran again, and its result was recorded|ran 2 times/,
  },
  "an entry is acknowledged before it is written": {
    file: "session/node/write-log.ts",
    from: "      await writeAll(this.#file, bytes);\n",
    to: "      for (const { settle } of batch) settle();\n      await new Promise((resolve) => setTimeout(resolve, 5));\n      await writeAll(this.#file, bytes);\n",
    found: /was acknowledged and is lost|has an effect and no intent/,
  },
  "a message that waited is not said to be taken": {
    file: "session/run-recorder.ts",
    from: "const queuedId = queues.take(event.message);",
    to: "const queuedId = queues.take(event.message) && undefined;",
    found: /times in the transcript/,
  },
  "a message is said to be queued before it is written": {
    file: "session/kept-queues.ts",
    from: "    written = add(body, undefined, id);\n",
    to: "    setTimeout(() => add(body, undefined, id).catch(() => {}), 20);\n",
    found: /is 0 times in the transcript/,
  },
} as const satisfies Readonly<Record<string, Breakage>>;

/**
 * The child script of a broken copy, in a temporary folder. Rejects when the source text to replace
 * no longer exists.
 */
export async function breakCopy({
  file,
  from,
  to,
}: Breakage): Promise<AsyncDisposable & { readonly child: string }> {
  const folder = await mkdtemp(join(tmpdir(), "bowline-broken-"));
  const core = join(import.meta.dirname, "../..");
  await cp(join(core, "src"), join(folder, "src"), { recursive: true });
  await cp(join(core, "package.json"), join(folder, "package.json"));
  await cp(join(core, "test/crash/child.ts"), join(folder, "test/crash/child.ts"));
  await symlink(join(core, "../../node_modules"), join(folder, "node_modules"));
  const path = join(folder, "src", file);
  const source = await readFile(path, "utf8");
  if (source.split(from).length !== 2)
    throw new Error(`${file} no longer has the text that is to be broken.`);
  await writeFile(path, source.replace(from, to));
  return {
    child: join(folder, "test/crash/child.ts"),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
