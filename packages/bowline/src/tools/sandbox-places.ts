/** The places that a command in the sandbox may not change or reach, as arguments of bubblewrap. */
import { existsSync, lstatSync, readFileSync, realpathSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInside } from "./inside.ts";

/** Files and folders of the working directory that take effect outside the sandbox. */
const fixedPlaces = [
  ".git/hooks",
  ".git/config",
  ".git/modules",
  ".git/worktrees",
  "bowline.json",
  "bowline.local.json",
  ".mcp.json",
  ".bowline",
  ".claude",
  ".agents",
];

/** Files that make git read other settings than `.git/config`. Most repositories have none. */
const otherSettings = [".git/commondir", ".git/config.worktree"];

/**
 * Makes what takes effect outside read-only, and `own`, absolute paths of folders, if they are in
 * the working directory.
 */
export function readOnlyPlaces(root: string, own: readonly string[]): string[] {
  const git = kindOf(join(root, ".git"));
  const names = [...fixedPlaces, ...otherSettings, ...(git === "file" ? [".git"] : [])];
  const paths = [
    ...names.map((name) => join(root, name)).filter((path) => existsSync(path)),
    ...own.filter((path) => path !== root && isInside(root, path)),
  ];
  const args = paths.flatMap((path) => ["--ro-bind", path, path]);
  const hooks = join(root, ".git/hooks");
  const isMissing = git === "folder" && !existsSync(hooks);
  const none = isMissing ? ["--tmpfs", hooks, "--remount-ro", hooks] : [];
  const above = foldersAbove(root, isMissing ? [...paths, hooks] : paths);
  return [...above.flatMap((path) => ["--bind", path, path]), ...args, ...none];
}

/**
 * Returns the folders between the root and the paths, the highest first. They become mount points
 * too: a folder that is none could be moved away with what is mounted in it.
 */
function foldersAbove(root: string, paths: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const path of paths)
    for (let folder = dirname(path); folder.length > root.length; folder = dirname(folder))
      folders.add(folder);
  return [...folders].toSorted((a, b) => a.length - b.length);
}

/**
 * Hides the sockets of services, such as an agent of keys: connecting needs no network. Those of
 * /run, /tmp and /dev are hidden by other means, unless they are in the working directory.
 */
export function hiddenSockets(root: string): string[] {
  const isHidden = (path: string): boolean =>
    ["/run/", "/tmp/", "/dev/"].some((folder) => path.startsWith(folder));
  const paths = socketPaths().filter((path) => isInside(root, path) || !isHidden(path));
  return paths.flatMap((path) => ["--ro-bind", "/dev/null", path]);
}

function socketPaths(): readonly string[] {
  let lines: string[];
  try {
    lines = readFileSync("/proc/net/unix", "utf8").split("\n");
  } catch {
    return []; // the system does not show them
  }
  const named = lines.flatMap(
    (line) => /^\S+:(?: \S+){6} (\/.*)$/.exec(line.replace(/ +/g, " "))?.[1] ?? [],
  );
  const found = named.flatMap((path) => {
    try {
      return lstatSync(path).isSocket() ? [realpathSync(path)] : [];
    } catch {
      return []; // it is gone, or belongs to another file system
    }
  });
  return [...new Set(found)];
}

/** Returns the settings of git that a command could create. Call it before the command. */
export function missingSettings(root: string): readonly string[] {
  return otherSettings.filter((name) => kindOf(join(root, name)) === "none");
}

/**
 * Renames those that the command created. Returns their names. Throws the system's error if one
 * cannot be renamed.
 */
export function moveAway(root: string, names: readonly string[]): readonly string[] {
  const created = names.filter((name) => kindOf(join(root, name)) !== "none");
  for (const name of created) {
    const path = join(root, name);
    renameSync(path, `${path}.refused`);
  }
  return created;
}

function kindOf(path: string): "none" | "file" | "folder" {
  try {
    return lstatSync(path).isDirectory() ? "folder" : "file";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return "none";
    throw error;
  }
}
