import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const MAX_LINKS = 40;

/**
 * Returns a path without symbolic links. The missing end of a path is kept; a link to a missing file
 * leads to that file's path.
 */
export function realPath(path: string, links: number = MAX_LINKS): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    if (parent === path) return path;
    const here = join(realPath(parent, links), basename(path));
    const target = links > 0 ? linkTarget(here) : undefined;
    return target === undefined ? here : realPath(resolve(dirname(here), target), links - 1);
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
