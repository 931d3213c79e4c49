/** Finds the shell for commands. */
import { existsSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { isInside } from "./inside.ts";

/**
 * Returns the first bash on the search path outside the working directory. The working directory
 * may contain a file named "bash", for example in node_modules/.bin, which npm puts first.
 */
export function findShell(
  { PATH = "" }: Readonly<Record<string, string>>,
  { name, root }: { readonly name: string; readonly root: string },
): string {
  const isOutside = (folder: string): boolean =>
    isAbsolute(folder) && ![name, root].some((own) => isInside(own, resolve(folder)));
  const folders = [...PATH.split(":").filter(isOutside), "/bin", "/usr/bin"];
  return (
    folders.map((folder) => join(folder, "bash")).find((path) => existsSync(path)) ?? "/bin/sh"
  );
}
