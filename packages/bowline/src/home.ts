/** The folders in which the command stores data. */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { createJsonlStore } from "@bowline/core/session/node";
import type { Store } from "@bowline/core/session";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns `BOWLINE_HOME`, or the system's folder for user data. Throws when there is no home
 * directory.
 */
export function dataFolder(
  { BOWLINE_HOME: named = "", XDG_DATA_HOME: data = "", LOCALAPPDATA: local = "" }: Environment,
  platform: NodeJS.Platform = process.platform,
  home: () => string = homedir,
): string {
  if (named.trim() !== "") return resolve(named);
  if (isAbsolute(data)) return join(data, "bowline"); // XDG: ignore relative paths
  if (platform === "darwin") return join(home(), "Library", "Application Support", "bowline");
  if (platform === "win32")
    return join(local === "" ? join(home(), "AppData", "Local") : local, "bowline");
  return join(home(), ".local", "share", "bowline");
}

/**
 * Returns the folder of the user's settings, instructions, skills, commands and agents:
 * `BOWLINE_HOME`, or the system's folder for settings. Throws when there is no home directory.
 */
export function configFolder(
  { BOWLINE_HOME: named = "", XDG_CONFIG_HOME: config = "", APPDATA: roaming = "" }: Environment,
  platform: NodeJS.Platform = process.platform,
  home: () => string = homedir,
): string {
  if (named.trim() !== "") return resolve(named);
  if (platform === "win32")
    return join(roaming === "" ? join(home(), "AppData", "Roaming") : roaming, "bowline");
  if (isAbsolute(config)) return join(config, "bowline"); // XDG: ignore relative paths
  return join(home(), ".config", "bowline");
}

/** Returns the folders of this program: a change in them can give rights. */
export function ownFolders(env: Environment): readonly string[] {
  return [...new Set([configFolder(env), dataFolder(env)])];
}

export function sessionsFolder(env: Environment): string {
  return join(dataFolder(env), "sessions");
}

/**
 * Returns the store of sessions. Its folder is created with the first session, readable by its
 * owner only.
 */
export function sessionStore(env: Environment): Store {
  return createJsonlStore(sessionsFolder(env));
}
