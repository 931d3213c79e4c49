import { existsSync } from "node:fs";

/**
 * Linux names every open file; a path below it reaches the very folder that was opened, whatever
 * its name is by now.
 */
export const descriptorFolder: string | undefined =
  process.platform === "linux" && existsSync("/proc/self/fd") ? "/proc/self/fd" : undefined;
