/** Creates a copy of the checkout, in which files may be broken. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, sep } from "node:path";

export interface Tree {
  readonly root: string;
  /** The folder for files that tests write: their `TMPDIR` and `HOME`. */
  readonly scratch: string;
  remove(): void;
}

export function copyTree(checkout: string): Tree {
  const from = realpathSync(checkout);
  // The name is short, since socket paths are limited to 108 bytes.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "mutants-")));
  const root = join(folder, "tree");
  const scratch = join(folder, "tmp");
  mkdirSync(scratch);
  cpSync(from, root, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => {
      if (basename(path) !== "node_modules") return basename(path) !== ".git";
      linkModules(path, join(root, relative(from, path)), from, root);
      return false;
    },
  });
  return { root, scratch, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Links packages instead of copying them. Workspaces link to the copy, since its tests would
 * otherwise run the checkout.
 */
function linkModules(modules: string, target: string, from: string, root: string): void {
  mkdirSync(dirname(target), { recursive: true });
  mkdirSync(target);
  for (const name of readdirSync(modules)) {
    if (name === ".cache") continue;
    const path = join(modules, name);
    if (name.startsWith("@")) {
      linkModules(path, join(target, name), from, root);
      continue;
    }
    const real = realpathSync(path);
    const own = relative(from, real);
    const isWorkspace = !own.startsWith("..") && !own.split(sep).includes("node_modules");
    symlinkSync(isWorkspace ? join(root, own) : real, join(target, name));
  }
}

/** Removes the files of killed tests, and unmounts a file system that one had mounted. */
export function emptyScratch({ scratch }: Pick<Tree, "scratch">): void {
  if (!existsSync(scratch)) return;
  const options = { recursive: true, force: true } as const;
  for (const name of readdirSync(scratch)) {
    const path = join(scratch, name);
    try {
      rmSync(path, options);
    } catch {
      spawnSync("umount", [path], { stdio: "ignore" });
      rmSync(path, options);
    }
  }
}
