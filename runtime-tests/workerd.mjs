// The scenario in Cloudflare's runtime, as a test of workerd's own kind.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

const config = (origin) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [
  (name = "main", worker = (
    modules = [(name = "worker", esModule = embed "worker.js")],
    bindings = [(name = "origin", text = "${origin}")],
    compatibilityDate = "2026-05-01",
  )),
  (name = "internet", network = (allow = ["local"])),
]);`;

/** Resolves to what the worker printed. `bin` has the programs esbuild and workerd. */
export async function runInWorkerd(bin, modelServer, timeout) {
  const folder = await mkdtemp(join(tmpdir(), "bowline-worker-"));
  try {
    const bundle = [
      "--bundle",
      "--format=esm",
      "--log-level=error",
      `--outfile=${join(folder, "worker.js")}`,
    ];
    await execute(join(bin, "esbuild"), [join(import.meta.dirname, "worker.js"), ...bundle], {
      timeout,
    });
    await writeFile(join(folder, "config.capnp"), config(modelServer));
    return (await execute(join(bin, "workerd"), ["test", "config.capnp"], { cwd: folder, timeout }))
      .stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}
