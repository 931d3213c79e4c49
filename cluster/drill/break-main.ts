/**
 * `npm run cluster:drill -- --break <name>`: a quick drill of a broken copy. Exits with 1 and the finding that
 * proves the breakage, and with 3 if there is none. `--break all` tries each, prints a table, and exits with 1
 * if one was not found.
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
/** How much of a finding the table has, in characters. */
const SHOWN = 100;

/** Resolves with the exit code. */
export async function breakMain(name: string, seed: number): Promise<number> {
  const names = Object.keys(breakages) as BreakageName[];
  if (name !== "all") {
    if (!isBreakage(name)) {
      console.error(`There is no breakage ${JSON.stringify(name)}: ${names.join(", ")}, or all.`);
      return 2;
    }
    return (await proofOf(name, seed)) ? 1 : NOT_FOUND;
  }
  const proofs = new Map<BreakageName, Proof | undefined>();
  for (const one of names) proofs.set(one, await proofOf(one, seed));
  const rows = names.map((one): readonly string[] => {
    const { drills, check, text } = proofs.get(one) ?? { drills: TRIES, check: "-", text: "-" };
    const isFound = proofs.get(one) !== undefined;
    return [one, isFound ? "found" : "NOT FOUND", String(drills), check, text.slice(0, SHOWN)];
  });
  console.log(tableOf([["breakage", "", "drills", "check", "first finding"], ...rows]));
  return rows.every(([, found]) => found === "found") ? 0 : 1;
}

interface Proof {
  /** How many drills it took. */
  readonly drills: number;
  readonly check: string;
  readonly text: string;
}

/** What a breakage does depends on what is interrupted, so a drill that finds nothing is repeated. */
async function proofOf(name: BreakageName, seed: number): Promise<Proof | undefined> {
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
    return { drills: attempt + 1, check, text };
  }
  console.log(`NOT FOUND: ${name} (${what}), in ${TRIES} drills from seed ${seed}`);
  return undefined;
}

/** Pads all columns to their widest cell. */
function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  const lineOf = (row: readonly string[]): string =>
    row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ");
  return rows.map((row) => lineOf(row).trimEnd()).join("\n");
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
