/** Prepares the entry of a server: its folder, and the variables that it may be given. */
import { join } from "node:path";
import { withoutSecrets } from "../environment.ts";
import { isRecord } from "../settings/shapes.ts";
import type { ServerSetting } from "../project/server-files.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface EntryPlace {
  /** The project's root, in which its servers run. */
  readonly root: string;
  /** The working directory, in which the user's own servers run. */
  readonly directory: string;
}

/** Returns the entry with an absolute working directory. */
export function entryIn(
  { entry, owner }: ServerSetting,
  { root, directory }: EntryPlace,
): Readonly<Record<string, unknown>> {
  const given = isRecord(entry) ? entry : {};
  if (given.command === undefined) return given;
  const folder = owner === "project" ? root : directory;
  const { cwd } = given;
  if (cwd === undefined || cwd === null) return { ...given, cwd: folder };
  // A reference such as ${HOME} is replaced by an absolute path later.
  const isOpen = typeof cwd !== "string" || cwd.startsWith("/") || cwd.startsWith("${");
  return { ...given, cwd: isOpen ? cwd : join(folder, cwd) };
}

/** Returns the variables that entries may refer to. Those of a project get no secrets of the user. */
export function variablesFor(
  owner: ServerSetting["owner"],
  env: Environment,
): Record<string, string | undefined> {
  return owner === "user" ? { ...env } : withoutSecrets(env);
}

/** Returns the name of a secret that a project's entry asks for; undefined if it asks for none. */
export function secretIn({ entry, owner }: ServerSetting, env: Environment): string | undefined {
  if (owner === "user") return undefined;
  const given = variablesFor(owner, env);
  const names = [...JSON.stringify(entry).matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)/g)];
  return names
    .map(([, name = ""]) => name)
    .find((name) => env[name] !== undefined && given[name] === undefined);
}
