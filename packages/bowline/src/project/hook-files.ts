/**
 * The hooks of the user and of a project. A project's are also read from files of Claude Code, where
 * many have them. What does not run here as it is meant there is left out, and reported.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { showPath } from "../escape.ts";
import { readBounded } from "../settings/bounded-file.ts";
import { readHooks } from "../settings/check-hooks.ts";
import { JsonError, readJson, type JsonText } from "../settings/json-text.ts";
import type { HookSettings } from "../settings/keys.ts";
import { isRecord } from "../settings/shapes.ts";
import type { SettingsSource } from "../settings/settings.ts";

const HOOK_FILES = [".claude/settings.json", ".claude/settings.local.json"] as const;

/** The hooks of one file. */
export interface HookSource {
  readonly path: string;
  readonly hooks: HookSettings;
}

/** A file of Claude Code with hooks, as read. */
export interface HookFile {
  readonly path: string;
  /** Relative to the project's root. */
  readonly name: string;
  /** SHA-256 of the hooks in it: the rest of the file has no effect here, and changes often. */
  readonly hash: string;
  readonly json: JsonText;
  readonly hooks: unknown;
  readonly isDisabled: boolean;
}

type Notice = (text: string) => void;

/** Reads the files that have hooks. Nothing takes effect by this. */
export async function readHookFiles(root: string, notice: Notice): Promise<HookFile[]> {
  const files = await Promise.all(
    HOOK_FILES.map(async (name) => {
      const path = join(root, name);
      return { path, name, file: await readBounded(path, root) };
    }),
  );
  return files.flatMap(({ path, name, file }) => {
    if (file.kind === "refused") notice(`${showPath(path)} ${file.why}.`);
    if (file.kind !== "text") return [];
    try {
      const json = readJson(file.text);
      const { hooks, disableAllHooks } = isRecord(json.value) ? json.value : {};
      if (hooks === undefined && disableAllHooks === undefined) return [];
      const hash = createHash("sha256")
        .update(JSON.stringify([hooks ?? null, disableAllHooks ?? null]))
        .digest("hex");
      return [{ path, name, hash, json, hooks: hooks ?? {}, isDisabled: disableAllHooks === true }];
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      notice(`${showPath(path)} is not used: line ${error.place.line}: ${error.message}.`);
      return [];
    }
  });
}

/** Returns the hooks that take effect: those of the settings, then those of Claude Code's files. */
export function hooksOf(
  sources: readonly SettingsSource[],
  files: readonly HookFile[],
  notice: Notice,
): readonly HookSource[] {
  const own = sources.flatMap(({ path, settings }) =>
    settings?.hooks === undefined ? [] : [{ path, hooks: settings.hooks }],
  );
  if (files.some(({ isDisabled }) => isDisabled)) return own;
  const others = files.map(({ path, json, hooks: given }) => {
    const { hooks, problems } = readHooks(given, ["hooks"]);
    for (const { path: at, message } of problems)
      notice(`${showPath(path)}:${json.placeOf(at).line}: not run: ${message}`);
    return { path, hooks };
  });
  return [...own, ...others];
}
