/** Loads the rules of the user and of a project from their settings files. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandError } from "../command-error.ts";
import { configFolder, ownFolders } from "../home.ts";
import { hashOf, parsePermissions, readSettings } from "./permission-file.ts";
import {
  createPermissions,
  type Permissions,
  type PermissionSource,
  type PermissionsOptions,
} from "./permissions.ts";
import { realPath } from "./real-path.ts";

export interface LoadPermissionsOptions extends Pick<
  PermissionsOptions,
  "others" | "searchesHide"
> {
  /** The working directory of the tools. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the user trusts of the project's files. Default: nothing. */
  readonly trust?: ProjectTrust;
}

/** The user's trust in the settings files of a project, by their content. */
export interface ProjectTrust {
  /** Returns true if the user trusts the file with this content, given by its SHA-256. */
  covers(path: string, hash: string): boolean;
  /** Called when a rule of the user was written. `before` is undefined for a new file. */
  changed(path: string, before: string | undefined, after: string): Promise<void>;
}

/** The settings files with rules, in the order in which they are read. */
export interface PermissionFiles {
  readonly user: string;
  readonly project: string;
  readonly local: string;
  /** The project's root, in which its files must be. */
  readonly root: string;
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
    root,
  };
}

/**
 * Rejects with `CommandError` for a broken file. One of a folder that is not trusted has no effect
 * instead, because a stranger's file must not stop the user.
 */
export async function loadPermissions(options: LoadPermissionsOptions): Promise<Permissions> {
  const { directory, trust, env, ...others } = options;
  const files = permissionFiles({ directory, env });
  const root = realPath(directory);
  const sources: PermissionSource[] = [];
  const broken: string[] = [];
  for (const scope of ["user", "project", "local"] as const) {
    if (scope !== "user" && files[scope] === files.user) continue;
    let isTrusted = false;
    try {
      const text = await readSettings(files[scope], scope === "user" ? undefined : files.root);
      if (text === undefined) continue;
      isTrusted = scope === "user" || trust?.covers(files[scope], hashOf(text)) === true;
      const permissions = parsePermissions(text, files[scope]);
      const source = [{ path: files[scope], scope, permissions, isTrusted }];
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
    ...(trust && { onProjectWrite: (before, after) => trust.changed(files.local, before, after) }),
    root,
    ownFolders: ownFolders(env),
  });
  return { ...permissions, notices: [...broken, ...permissions.notices] };
}

/** Returns the nearest folder with a Git repository, else the folder itself. */
function projectRoot(directory: string): string {
  for (let folder = directory; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return directory;
  }
}
