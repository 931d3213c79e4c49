/**
 * The settings of a command: those of the user, then of the project, then of the project's local
 * file. A later file takes precedence.
 */
import { join } from "node:path";
import { readBounded, type BoundedFile } from "./bounded-file.ts";
import { checkSettings } from "./check-settings.ts";
import {
  sandboxModes,
  type PermissionEntry,
  type SandboxMode,
  type Settings,
  type SettingsScope,
} from "./keys.ts";
import { CommandError } from "../command-error.ts";
import { oneLine } from "../terminal.ts";

const SETTINGS_FILE = "bowline.json";
const LOCAL_SETTINGS_FILE = "bowline.local.json";

export interface SettingsSource {
  readonly path: string;
  readonly scope: SettingsScope;
  /** Whether its settings take effect. */
  readonly isUsed: boolean;
  /** Why it does not. */
  readonly why?: string;
  /** The file's own settings, if it takes effect. */
  readonly settings?: Settings;
}

export interface LoadedSettings {
  readonly merged: Settings;
  /** The files that exist, in rising precedence. */
  readonly sources: readonly SettingsSource[];
  /** Settings that had no effect, for a person. */
  readonly notices: readonly string[];
}

/** A settings file of the project, as read. */
export interface ProjectSettingsFile {
  readonly scope: "project" | "local";
  readonly path: string;
  readonly name: string;
  readonly file: BoundedFile;
}

/** Reads the files of a project that exist. Nothing of them takes effect by this. */
export async function readProjectSettings(root: string): Promise<ProjectSettingsFile[]> {
  const names = [
    ["project", SETTINGS_FILE],
    ["local", LOCAL_SETTINGS_FILE],
  ] as const;
  const files = await Promise.all(
    names.map(async ([scope, name]) => {
      const path = join(root, name);
      return { scope, path, name, file: await readBounded(path, root) };
    }),
  );
  return files.filter(({ file }) => file.kind !== "missing");
}

export interface LoadSettingsOptions {
  /** The folder of the user's own settings. */
  readonly configFolder: string;
  /** The project's files. They are the ones whose hashes were compared. */
  readonly project: readonly ProjectSettingsFile[];
  /** Why the project's files have no effect. Absent if they have. */
  readonly whyNotProject?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Throws `CommandError` for a file that takes effect and is broken. */
export async function loadSettings(options: LoadSettingsOptions): Promise<LoadedSettings> {
  const { configFolder, project, env, whyNotProject } = options;
  const sources: SettingsSource[] = [];
  const path = join(configFolder, SETTINGS_FILE);
  // The user's own file may be a link, for example into a folder of dotfiles.
  const own = await readBounded(path, undefined);
  if (own.kind === "refused") throw new CommandError(oneLine(`${path} ${own.why}.`, 1000));
  if (own.kind === "text") sources.push(used(path, "user", own.text, env));
  for (const { scope, path: at, file } of project) {
    const why = whyNotProject ?? (file.kind === "refused" ? file.why : undefined);
    if (why !== undefined) sources.push({ path: at, scope, isUsed: false, why });
    else if (file.kind === "text") sources.push(used(at, scope, file.text, env));
  }
  return mergeSources(sources);
}

function used(
  path: string,
  scope: SettingsScope,
  text: string,
  env: LoadSettingsOptions["env"],
): SettingsSource {
  return { path, scope, isUsed: true, settings: checkSettings(text, { path, scope, env }) };
}

/** Joins the settings of the files that take effect. */
export function mergeSources(sources: readonly SettingsSource[]): LoadedSettings {
  let merged: Settings = {};
  const notices: string[] = [];
  for (const { path, scope, settings } of sources) {
    if (settings === undefined) continue;
    // Servers and hooks belong to their files: see `Project`.
    const { permissions, sandbox, mcpServers: _servers, hooks: _hooks, ...others } = settings;
    const isLooser = scope !== "user" && isLooserThan(sandbox, merged.sandbox);
    if (isLooser)
      notices.push(`${path}: sandbox "${sandbox}" has no effect; a project cannot loosen it.`);
    merged = {
      ...merged,
      ...others,
      ...(sandbox !== undefined && !isLooser && { sandbox }),
      ...(permissions !== undefined && {
        permissions: {
          allow: joined(merged.permissions?.allow, permissions.allow),
          ask: joined(merged.permissions?.ask, permissions.ask),
          deny: joined(merged.permissions?.deny, permissions.deny),
        },
      }),
    };
  }
  return { merged, sources, notices };
}

function joined(
  before: readonly PermissionEntry[] = [],
  more: readonly PermissionEntry[] = [],
): readonly PermissionEntry[] {
  return [...before, ...more];
}

/** An unset mode is the default, `auto`. */
function isLooserThan(given: SandboxMode | undefined, before: SandboxMode = "auto"): boolean {
  return given !== undefined && sandboxModes.indexOf(given) < sandboxModes.indexOf(before);
}
