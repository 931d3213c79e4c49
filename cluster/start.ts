// npm run cluster: a whole cluster on this machine, with the chat page. Ctrl-C stops it. Nothing
// is left behind, so its sessions end with it.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresIsMissing } from "../test/support/postgres.ts";
import { natsIsMissing } from "./kit/nats.ts";
import { restateIsMissing } from "./kit/restate.ts";
import type { System } from "./kit/system.ts";

/** No timer of the system keeps this process running. */
const AWAKE_MS = 60_000;

process.exitCode = await main();

async function main(): Promise<number> {
  const stopped = untilStopped();
  const missing = [postgresIsMissing(), natsIsMissing()].filter((why) => why !== false);
  for (const why of missing) console.error(`npm run cluster needs another program: ${why}.`);
  if (missing.length > 0) return 1;
  console.log("A cluster on this machine: Restate, NATS, PostgreSQL, workers and gateways");
  if (restateIsMissing() !== false) installRestate();
  const { startSystem } = await import("./kit/system.ts");
  const folder = mkdtempSync(join(tmpdir(), "bowline-cluster-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const starting = startSystem({
    folder,
    env: await environment(folder),
    onStart: (line) => console.log(`Starting ${line}`),
  });
  const system = await Promise.race([starting, stopped]);
  if (system === undefined) return await leave(starting);
  greet(system);
  await stopped;
  return await leave(starting);
}

function installRestate(): void {
  console.log("Installing the Restate server into cluster/node_modules (about 100 MB, once)");
  const folder = import.meta.dirname;
  execFileSync("npm", ["ci", "--prefix", folder, "--ignore-scripts"], { stdio: "inherit" });
}

/** Keys of models and other settings are this shell's. */
async function environment(folder: string): Promise<Record<string, string>> {
  const { BOWLINE_WORKSPACE: named, BOWLINE_TOKEN: _, BOWLINE_HOME: __, ...others } = process.env;
  const workspace = named ?? join(folder, "workspace");
  if (named === undefined) {
    const { createWorkspaceFiles } = await import("bowline/gateway");
    await createWorkspaceFiles(workspace);
  }
  const set = Object.entries(others).filter(([, value]) => value !== undefined);
  return { ...(Object.fromEntries(set) as Record<string, string>), BOWLINE_WORKSPACE: workspace };
}

function greet({ addresses, token, urls, handles, folder }: System): void {
  console.log(`${handles.length} processes run. Their logs are in ${folder}`);
  for (const { name, pid } of handles) console.log(`  ${name.padEnd(10)} process ${pid}`);
  console.log(`The gateways are ${urls.join(" and ")}. This link leads to one that runs:`);
  console.log(`Open ${addresses.gateway}/#token=${token}`);
  console.log("Kill any process of the list and go on chatting. Ctrl-C stops all.");
}

async function leave(starting: Promise<System>): Promise<number> {
  console.log("Stopping all processes (a second Ctrl-C does not wait)");
  await (await starting)[Symbol.asyncDispose]();
  return 0;
}

/** Resolves at the first signal. The second ends this process, and its children with it. */
function untilStopped(): Promise<undefined> {
  const awake = setInterval(() => {}, AWAKE_MS);
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.on(signal, () => {
        clearInterval(awake);
        resolve(undefined);
        process.once(signal, () => process.exit(130));
      });
  });
}
