/** Where the command keeps what outlives a run. */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { createJsonlStore } from "@bowline/core/session/node";
import type { Store } from "@bowline/core/session";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `BOWLINE_HOME`, else the system's place for a user's data. Throws when there is no home
 * directory.
 */
export function dataFolder(
  { BOWLINE_HOME: named = "", XDG_DATA_HOME: data = "", LOCALAPPDATA: local = "" }: Environment,
  platform: NodeJS.Platform = process.platform,
  home: () => string = homedir,
): string {
  if (named.trim() !== "") return resolve(named);
  if (isAbsolute(data)) return join(data, "bowline"); // XDG says of a relative one: ignore it
  if (platform === "darwin") return join(home(), "Library", "Application Support", "bowline");
  if (platform === "win32")
    return join(local === "" ? join(home(), "AppData", "Local") : local, "bowline");
  return join(home(), ".local", "share", "bowline");
}

export function sessionsFolder(env: Environment): string {
  return join(dataFolder(env), "sessions");
}

/** Makes its folder, for its owner only, with the first session. */
export function sessionStore(env: Environment): Store {
  return createJsonlStore(sessionsFolder(env));
}
