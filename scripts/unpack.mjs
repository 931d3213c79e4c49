// Unpacks packages into the `node_modules` of a folder outside the repository, as npm would.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** Creates a temporary folder. `remove()` deletes it. */
export function createFolder(name) {
  const path = realpathSync(mkdtempSync(join(tmpdir(), `bowline-${name}-`)));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Unpacks a package into `folder` and resolves to the specifiers of its entries. */
export async function unpack(tarball, folder) {
  const { stdout } = await execute("tar", ["-xzOf", tarball, "package/package.json"]);
  const { name, exports } = JSON.parse(stdout);
  const target = join(folder, "node_modules", name);
  mkdirSync(target, { recursive: true });
  await execute("tar", ["-xzf", tarball, "-C", target, "--strip-components=1"]);
  return Object.keys(exports)
    .filter((path) => path !== "./package.json")
    .map((path) => join(name, path));
}

/** Whether an entry needs Node. All others also run in browsers and workers. */
export function isForNode(entry) {
  return /\/(?:node|undici)$|^bowline\/(?:engine|gateway|tools)$|^@bowline\/(?:cluster|mcp|postgres|restate)$/.test(
    entry,
  );
}

/** Installs a dependency into `folder` as a link to the repository's own. */
export function link(name, folder) {
  const target = join(folder, "node_modules", name);
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(realpathSync(join("node_modules", name)), target);
}
