/** Loads the rules of the user and of a project from their settings files. */
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandError } from "../command-error.ts";
import { configFolder } from "../home.ts";
import { readPermissions } from "./permission-file.ts";
import {
  createPermissions,
  type Permissions,
  type PermissionsOptions,
  type PermissionSource,
} from "./permissions.ts";
import { realPath } from "./real-path.ts";

export interface LoadPermissionsOptions extends Pick<
  PermissionsOptions,
  "others" | "searchesHide"
> {
  /** The working directory of the tools. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the user trusts the project's files. Default false. */
  readonly isTrusted?: boolean;
}

/** The settings files with rules, in the order in which they are read. */
export interface PermissionFiles {
  readonly user: string;
  readonly project: string;
  readonly local: string;
}

/** Returns the paths of the settings files for a working directory. */
export function permissionFiles({
  directory,
  env,
}: Pick<LoadPermissionsOptions, "directory" | "env">): PermissionFiles {
  const root = projectRoot(realPath(directory));
  return {
    user: join(configFolder(env), "bowline.json"),
    project: join(root, "bowline.json"),
    local: join(root, "bowline.local.json"),
  };
}

/**
 * Rejects with `CommandError` for a broken file. One of a folder that is not trusted has no effect
 * instead, because a stranger's file must not stop the user.
 */
export async function loadPermissions(options: LoadPermissionsOptions): Promise<Permissions> {
  const { directory, isTrusted = false, env, ...others } = options;
  const files = permissionFiles({ directory, env });
  const root = realPath(directory);
  const sources: PermissionSource[] = [];
  const broken: string[] = [];
  for (const scope of ["user", "project", "local"] as const) {
    if (scope !== "user" && files[scope] === files.user) continue;
    if (scope !== "user" && isNoFile(files[scope])) {
      broken.push(`${files[scope]} is no file, and has no rules.`);
      continue;
    }
    try {
      const source = await readSource(files[scope], scope, isTrusted);
      createPermissions({ sources: source, root });
      sources.push(...source);
    } catch (error) {
      if (scope === "user" || isTrusted || !(error instanceof CommandError)) throw error;
      broken.push(`${error.message} Its rules have no effect.`);
    }
  }
  const permissions = createPermissions({
    ...others,
    sources,
    files: { project: files.local, user: files.user },
    root,
  });
  return { ...permissions, notices: [...broken, ...permissions.notices] };
}

/** A pipe or a device in a project would block the read. */
function isNoFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === false;
}

async function readSource(
  path: string,
  scope: PermissionSource["scope"],
  isTrusted: boolean,
): Promise<PermissionSource[]> {
  const permissions = await readPermissions(path);
  return permissions === undefined ? [] : [{ path, scope, permissions, isTrusted }];
}

/** Returns the nearest folder with a Git repository, else the folder itself. */
function projectRoot(directory: string): string {
  for (let folder = directory; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return directory;
  }
}
