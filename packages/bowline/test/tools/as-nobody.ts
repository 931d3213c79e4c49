/** Root can read and write everything, so a test of permissions drops root for a while. */
import { chmodSync } from "node:fs";
import { dirname } from "node:path";
import type { Folder } from "./folder.ts";

const NOBODY = 65_534;

/** Runs the action as an unprivileged user, if the tests run as root. */
export async function asNobody<T>(folder: Folder, action: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return action();
  chmodSync(dirname(folder.root), 0o755);
  process.seteuid?.(NOBODY);
  try {
    return await action();
  } finally {
    process.seteuid?.(0);
  }
}
