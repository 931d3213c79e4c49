import { sep } from "node:path";

/** Folders without regular files: processes and their environments, devices, kernel settings. */
const SYSTEM = ["/dev", "/proc", "/sys"];

/**
 * Returns true for `root` and paths below it. /dev, /proc and /sys do not count as below other
 * folders. Both paths are absolute and normalised.
 */
export function isInside(root: string, path: string): boolean {
  return (
    isBelow(root, path) && !SYSTEM.some((folder) => isBelow(folder, path) && !isBelow(folder, root))
  );
}

/**
 * Returns true for paths inside either folder: the working directory itself may be in /dev, /proc
 * or /sys.
 */
export function isWithin(
  { root, reach }: { readonly root: string; readonly reach: string },
  path: string,
): boolean {
  return isInside(root, path) || isInside(reach, path);
}

function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}
