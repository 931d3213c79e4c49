import { existsSync } from "node:fs";

/**
 * Linux's folder of open files. A path below it reaches the opened folder itself, even if that was
 * renamed.
 */
export const descriptorFolder: string | undefined =
  process.platform === "linux" && existsSync("/proc/self/fd") ? "/proc/self/fd" : undefined;
