import { sep } from "node:path";

/** Not files but doors: processes with their environments, devices, the kernel's settings. */
const SYSTEM = ["/dev", "/proc", "/sys"];

/**
 * True for `root` itself and for what is below it; the system's own folders are below no other.
 * Both paths are absolute and normal.
 */
export function isInside(root: string, path: string): boolean {
  return (
    isBelow(root, path) && !SYSTEM.some((folder) => isBelow(folder, path) && !isBelow(folder, root))
  );
}

/**
 * True for what is inside either: a working directory may itself lie in one of the system's
 * folders.
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
