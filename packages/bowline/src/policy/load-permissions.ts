/** Loads the rules of the user and of a project from their settings files. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
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

/** Rejects with `CommandError` for a broken file. */
export async function loadPermissions(options: LoadPermissionsOptions): Promise<Permissions> {
  const { directory, isTrusted = false, env, ...others } = options;
  const files = permissionFiles({ directory, env });
  const sources: PermissionSource[] = [];
  for (const scope of ["user", "project", "local"] as const) {
    if (scope !== "user" && files[scope] === files.user) continue;
    const permissions = await readPermissions(files[scope]);
    if (permissions !== undefined)
      sources.push({ path: files[scope], scope, permissions, isTrusted });
  }
  return createPermissions({
    ...others,
    sources,
    files: { project: files.local, user: files.user },
    root: realPath(directory),
  });
}

/** Returns the nearest folder with a Git repository, else the folder itself. */
function projectRoot(directory: string): string {
  for (let folder = directory; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return directory;
  }
}
