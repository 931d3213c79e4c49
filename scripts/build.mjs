// `tsc -b` with the projects given, after removing built files whose source is gone: npm pack would
// ship them.
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

// By its path: `node_modules/.bin/tsc` may be that of another TypeScript, which is here for a check.
const tsc = join("node_modules", "typescript", "bin", "tsc");
process.exitCode =
  spawnSync(process.execPath, [tsc, "-b", ...process.argv.slice(2)], { stdio: "inherit" }).status ??
  1;
