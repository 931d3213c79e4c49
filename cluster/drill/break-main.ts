/**
 * `npm run cluster:drill -- --break <name>`: a quick drill of a broken copy. Exits with 1 and the finding that
 * proves the breakage, and with 3 if there is none. `--break all` tries each, and exits with 0 if all were found.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { breakages, breakCopy, isBreakage, type BreakageName } from "./breakages.ts";
import type { Finding } from "./evidence.ts";

/** A copy whose drill hangs counts as broken only if it says so itself. */
const LIMIT_MS = 4 * 60_000;
const TRIES = 3;
const NOT_FOUND = 3;

/** Resolves with the exit code. */
export async function breakMain(name: string, seed: number): Promise<number> {
  const names = Object.keys(breakages) as BreakageName[];
  if (name !== "all") {
    if (!isBreakage(name)) {
      console.error(`There is no breakage ${JSON.stringify(name)}: ${names.join(", ")}, or all.`);
      return 2;
    }
    return (await isFound(name, seed)) ? 1 : NOT_FOUND;
  }
  const missed: string[] = [];
  for (const one of names) if (!(await isFound(one, seed))) missed.push(one);
  console.log(
    missed.length === 0
      ? `all ${names.length} breakages were found`
      : `NOT FOUND: ${missed.join(", ")}`,
  );
  return missed.length === 0 ? 0 : 1;
}

/** What a breakage does depends on what is interrupted, so a drill that finds nothing is repeated. */
async function isFound(name: BreakageName, seed: number): Promise<boolean> {
  const { what, found } = breakages[name];
  using copy = breakCopy(breakages[name]);
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const finding = (await drillOf(copy.folder, seed + attempt)).find(({ check, text }) =>
      found.test(`${check}: ${text}`),
    );
    if (finding === undefined) continue;
    const { check, session = "", text } = finding;
    console.log(
      `FOUND ${name} (${what}) by ${check} in ${session}, seed ${seed + attempt}: ${text.slice(0, 400)}`,
    );
    return true;
  }
  console.log(`NOT FOUND: ${name} (${what}), in ${TRIES} drills from seed ${seed}`);
  return false;
}

/** Runs the drill of a copy, with the copy's own code. Returns its findings. */
async function drillOf(copy: string, seed: number): Promise<Finding[]> {
  const folder = mkdtempSync(join(tmpdir(), "bowline-broken-drill-"));
  const program = join(copy, "cluster/drill/main.ts");
  const options = ["--quick", "--folder", folder, "--seed", String(seed)];
  const child = spawn(process.execPath, ["--conditions=@bowline/source", program, ...options], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  await once(child, "exit");
  clearTimeout(limit);
  const file = join(folder, "evidence", "findings.json");
  const findings = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Finding[]) : [];
  rmSync(folder, { recursive: true, force: true });
  return findings;
}
