// Runs `tsc -b` with the given projects. First removes built files without a source, since npm pack
// would include them.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

for (const name of readdirSync("packages")) {
  const dist = join("packages", name, "dist");
  if (!existsSync(dist)) continue;
  for (const file of readdirSync(dist, { recursive: true })) {
    const source = join("packages", name, "src", file.replace(/\.(?:js|d\.ts)(?:\.map)?$/, ".ts"));
    if (/\.(?:js|ts|map)$/.test(file) && !existsSync(source)) rmSync(join(dist, file));
  }
}

// By path, since `node_modules/.bin/tsc` may be another TypeScript, which a check uses.
const tsc = join("node_modules", "typescript", "bin", "tsc");
process.exitCode =
  spawnSync(process.execPath, [tsc, "-b", ...process.argv.slice(2)], { stdio: "inherit" }).status ??
  1;
