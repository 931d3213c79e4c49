/**
 * Importing an entry has no effects. Cloudflare Workers refuse a module that starts a timer, reads
 * random values, makes an `AbortController` or does I/O while it loads.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";

const { exports } = JSON.parse(
  readFileSync(join(import.meta.dirname, "../package.json"), "utf8"),
) as { exports: Record<string, string | { default: string }> };

const entries = Object.entries(exports).flatMap(([key, target]) =>
  typeof target === "string" || target.default.includes("/node/")
    ? []
    : [`@bowline/core${key.slice(1)}`],
);

/** Runs in a separate process, because it replaces globals. */
const script = `
  const refuse = (owner, name) => {
    owner[name] = function () { throw new Error(name + " was called by an import"); };
  };
  for (const name of ["AbortController", "fetch", "setTimeout", "setInterval", "setImmediate"])
    refuse(globalThis, name);
  refuse(Math, "random");
  for (const name of ["getRandomValues", "randomUUID"]) refuse(crypto, name);
  for (const name of ["abort", "any", "timeout"]) refuse(AbortSignal, name);
  for (const entry of JSON.parse(process.argv[1]))
    await import(entry).catch((error) => console.log(entry + ": " + error.message));
  console.log("done");
`;

describe("importing an entry", () => {
  it("starts no timer, reads no random values and creates no AbortController", async () => {
    assert.ok(entries.length > 10);
    const flags = ["--conditions=@bowline/source", "--input-type=module"];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...flags, "-e", script, JSON.stringify(entries)],
      { cwd: import.meta.dirname, timeout: 30_000 },
    );
    assert.equal(stdout, "done\n");
  });
});
