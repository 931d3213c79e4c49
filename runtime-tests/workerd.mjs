// Runs Workers in Cloudflare's runtime with `workerd test`.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";

const execute = promisify(execFile);

/**
 * Bundles each Worker as wrangler does and calls its `test()` with `origin` in the environment.
 * `workers` maps names to files. Resolves to their output. Rejects if one fails to load or throws;
 * the error's `stderr` names it.
 */
export async function runInWorkerd(workerd, workers, { origin, timeout }) {
  const folder = await mkdtemp(join(tmpdir(), "bowline-worker-"));
  const names = Object.keys(workers);
  try {
    await Promise.all(names.map((name, at) => bundle(workers[name], join(folder, `${at}.js`))));
    const services = names.map((name, at) => service(name, `${at}.js`, origin));
    await writeFile(join(folder, "config.capnp"), config(services));
    return (await execute(workerd, ["test", "config.capnp"], { cwd: folder, timeout })).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function bundle(entryPoint, outfile) {
  const conditions = ["workerd", "worker", "browser"];
  const options = { bundle: true, format: "esm", target: "es2022", conditions, logLevel: "error" };
  return build({ entryPoints: [entryPoint], outfile, ...options });
}

const config = (services) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [
  ${services.join(",\n  ")},
  (name = "internet", network = (allow = ["local"])),
]);`;

const service = (name, file, origin) => `(name = "${name}", worker = (
    modules = [(name = "worker", esModule = embed "${file}")],
    bindings = [(name = "origin", text = "${origin}")],
    compatibilityDate = "2026-05-01",
  ))`;
