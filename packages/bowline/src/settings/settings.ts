/**
 * The settings of a command: those of the user, then of the project, then of the project's local
 * file. A later file takes precedence.
 */
import { join } from "node:path";
import { readBounded, type BoundedFile } from "./bounded-file.ts";
import { checkSettings, type SettingsScope } from "./check-settings.ts";
import { sandboxModes, type PermissionEntry, type SandboxMode, type Settings } from "./keys.ts";
import { CommandError } from "../command-error.ts";
import { oneLine } from "../terminal.ts";

export const SETTINGS_FILE = "bowline.json";
export const LOCAL_SETTINGS_FILE = "bowline.local.json";

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

export interface LoadSettingsOptions {
  /** The folder of the user's own settings. */
  readonly configFolder: string;
  /** The real path of the project's root. */
  readonly root: string;
  /** Why the project's files have no effect. Absent if they have. */
  readonly whyNotProject?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Throws `CommandError` for a file that takes effect and is broken. */
export async function loadSettings(options: LoadSettingsOptions): Promise<LoadedSettings> {
  const { configFolder, root, env, whyNotProject } = options;
  const files: readonly (readonly [SettingsScope, string, string?])[] = [
    // The user's own file may be a link, for example into a folder of dotfiles.
    ["user", join(configFolder, SETTINGS_FILE)],
    ["project", join(root, SETTINGS_FILE), root],
    ["local", join(root, LOCAL_SETTINGS_FILE), root],
  ];
  const sources: SettingsSource[] = [];
  for (const [scope, path, folder] of files) {
    const file = await readBounded(path, folder);
    if (file.kind === "missing") continue;
    const why = scope === "user" ? undefined : (whyNotProject ?? refusal(file));
    if (why !== undefined) sources.push({ path, scope, isUsed: false, why });
    else
      sources.push({
        path,
        scope,
        isUsed: true,
        settings: checkSettings(textOf(file, path), { path, scope, env }),
      });
  }
  return mergeSources(sources);
}

function refusal(file: BoundedFile): string | undefined {
  return file.kind === "refused" ? file.why : undefined;
}

function textOf(file: BoundedFile, path: string): string {
  if (file.kind === "text") return file.text;
  throw new CommandError(oneLine(`${path} ${refusal(file) ?? "is missing"}.`, 1000));
}

/** Joins the settings of the files that take effect. */
export function mergeSources(sources: readonly SettingsSource[]): LoadedSettings {
  let merged: Settings = {};
  const notices: string[] = [];
  for (const { path, scope, settings } of sources) {
    if (settings === undefined) continue;
    const { permissions, sandbox, ...others } = settings;
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
