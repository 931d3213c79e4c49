/** When the store of files waits for the disk, as Node's trace of system calls shows. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { temporaryFolder } from "../support.ts";

interface TraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly args: { readonly path?: string };
}

/** Runs sync-child.ts. Returns the syncs and renames of each of its steps, in their order. */
async function stepsOf(sync: string): Promise<Record<string, string>> {
  await using folder = await temporaryFolder();
  const trace = join(folder.path, "trace.json");
  const sessions = join(folder.path, "sessions");
  await mkdir(sessions);
  await promisify(execFile)(process.execPath, [
    "--conditions=@bowline/source",
    "--trace-event-categories=node.fs.async",
    `--trace-event-file-pattern=${trace}`,
    join(import.meta.dirname, "sync-child.ts"),
    sessions,
    sync,
  ]);
  const { traceEvents } = JSON.parse(await readFile(trace, "utf8")) as {
    traceEvents: readonly TraceEvent[];
  };
  const steps: Record<string, string[]> = {};
  let calls: string[] = [];
  for (const { ph, name, args } of traceEvents) {
    const [, step] = /step (.+)$/.exec(args.path ?? "") ?? [];
    if (ph !== "b") continue;
    if (step !== undefined) calls = steps[step] = [];
    else if (["fdatasync", "fsync", "rename"].includes(name)) calls.push(name);
  }
  return Object.fromEntries(Object.entries(steps).map(([step, all]) => [step, all.join(" ")]));
}

describe("a store of files", () => {
  // A new file is synced before it gets its name, and its folder after that.
  const placed = "fdatasync rename fsync";
  const always = {
    create: placed,
    "append a title": "fdatasync",
    "append a message": "fdatasync",
    "append a file": `${placed} fsync fdatasync`,
    "append another title": "fdatasync",
    close: "",
    repair: "fdatasync fdatasync",
    "close unchanged": "",
  };
  const never = Object.fromEntries(Object.keys(always).map((step) => [step, ""]));
  for (const [sync, expected] of Object.entries({
    always,
    commit: { ...always, "append a title": "", "append another title": "", close: "fdatasync" },
    never: { ...never, create: "rename", "append a file": "rename" },
  }))
    it(`syncs its files as "${sync}" says`, async () => {
      assert.deepEqual(await stepsOf(sync), expected);
    });
});
