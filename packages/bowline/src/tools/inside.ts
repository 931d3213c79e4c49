import { sep } from "node:path";

/** True for `root` itself and for what is below it. Both paths are absolute and normal. */
export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}
