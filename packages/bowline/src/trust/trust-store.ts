/**
 * The folders whose settings, servers, hooks, commands, skills and agents may take effect. A folder is trusted with
 * the hashes of these files, so that a later change asks again.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { isBowlineError, systemClock } from "@bowline/core";
import type { SessionWriter, Store } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";
import { CommandError } from "../command-error.ts";
import { dataFolder } from "../home.ts";
import { replaceFile } from "../replace-file.ts";
import { oneLine } from "../terminal.ts";

export type TrustState = "trusted" | "untrusted" | "changed";

/** `servers` is `.mcp.json`; `hooks` are those in files of Claude Code. */
export type ItemKind = "settings" | "servers" | "hooks" | "command" | "skill" | "agent";

/** Files of a project's root. The others may lie in any folder, and are seen only from there. */
const rootKinds: ReadonlySet<ItemKind> = new Set(["settings", "servers", "hooks"]);
/** Files that may have forbidden something. */
const guardKinds: ReadonlySet<ItemKind> = new Set(["settings", "hooks"]);

/** A file that would take effect. */
export interface TrustItem {
  /** Relative to the folder, with "/" as separator. */
  readonly path: string;
  readonly kind: ItemKind;
  /** SHA-256 of the content; of `hooks`, of the hooks in it alone. */
  readonly hash: string;
}

export interface TrustedFolder {
  /** The real path. */
  readonly folder: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly items: readonly TrustItem[];
}

export interface TrustStore {
  /** Returns the trusted folders by path. */
  list(): Promise<readonly TrustedFolder[]>;
  /**
   * Trusts a folder with these files. Keeps the skills, commands and agents of its other folders
   * that were trusted before, because they are seen only from there.
   */
  trust(folder: string, items: readonly TrustItem[]): Promise<void>;
  /**
   * Trusts a file that the user changed through this program. `previousHash` is the hash before the
   * change, undefined for a new file. Does nothing if the file was not trusted before: the rest of
   * it may be a stranger's. Resolves to whether the file is trusted.
   */
  acceptChange(folder: string, item: TrustItem, previousHash: string | undefined): Promise<boolean>;
  /** Returns false if the folder was not trusted. */
  remove(folder: string): Promise<boolean>;
}

export interface TrustStoreOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: the current time. */
  readonly now?: () => number;
  /** How long to wait for another process that writes, in milliseconds. Default 5000. */
  readonly waitMs?: number;
}

/** What a folder's files are compared with. */
export interface TrustVerdict {
  readonly state: TrustState;
  /** What is new, different or gone since the folder was trusted. */
  readonly changes: readonly string[];
}

const LOCK = "trust";
const RETRY_MS = 20;

/** Every method throws `CommandError` if trust.json is broken or cannot be written. */
export function createTrustStore({
  env,
  now = () => Date.now(),
  waitMs = 5000,
}: TrustStoreOptions): TrustStore {
  const home = dataFolder(env);
  const file = join(home, "trust.json");
  const change = async (
    work: (before: readonly TrustedFolder[]) => readonly TrustedFolder[],
  ): Promise<void> => {
    // Held across reading and writing, so that two processes do not undo each other's change.
    const lock = await hold(createJsonlStore(join(home, "locks")), waitMs);
    try {
      const folders = work(await read(file));
      await replaceFile(file, `${JSON.stringify({ version: 1, folders }, undefined, 2)}\n`);
    } finally {
      await lock.close();
    }
  };
  return {
    list: () => read(file),
    trust: (folder, items) =>
      change((before) => {
        const kept = (itemsOf(before, folder) ?? []).filter(
          ({ kind, path }) => !rootKinds.has(kind) && !items.some((item) => item.path === path),
        );
        return withFolder(before, {
          folder,
          since: now(),
          items: [...items.map(plainItem), ...kept],
        });
      }),
    async acceptChange(folder, item, previousHash) {
      let isTrusted = false;
      await change((before) => {
        const items = itemsOf(before, folder) ?? [];
        const known = items.find(({ path }) => path === item.path);
        isTrusted = known?.hash === previousHash;
        if (!isTrusted) return before;
        const others = items.filter(({ path }) => path !== item.path);
        return withFolder(before, { folder, since: now(), items: [...others, plainItem(item)] });
      });
      return isTrusted;
    },
    async remove(folder) {
      let wasTrusted = false;
      await change((before) => {
        const others = before.filter((one) => one.folder !== folder);
        wasTrusted = others.length < before.length;
        return others;
      });
      return wasTrusted;
    },
  };
}

function itemsOf(
  folders: readonly TrustedFolder[],
  folder: string,
): readonly TrustItem[] | undefined {
  return folders.find((one) => one.folder === folder)?.items;
}

/** Adds or replaces a folder. The list is sorted by path. */
function withFolder(
  folders: readonly TrustedFolder[],
  added: TrustedFolder,
): readonly TrustedFolder[] {
  const others = folders.filter(({ folder }) => folder !== added.folder);
  return [...others, added].toSorted((a, b) => (a.folder < b.folder ? -1 : 1));
}

function plainItem({ path, kind, hash }: TrustItem): TrustItem {
  return { path, kind, hash };
}

/**
 * Compares the files of a folder with those it was trusted with. A folder without such files is
 * trusted: there is nothing that could take effect. A file that is gone counts only for settings
 * and hooks, because they may have denied something.
 */
export function compareTrust(
  known: TrustedFolder | undefined,
  items: readonly TrustItem[],
): TrustVerdict {
  if (known === undefined)
    return { state: items.length === 0 ? "trusted" : "untrusted", changes: [] };
  const changes = items.flatMap(({ path, hash }) => {
    const before = known.items.find((item) => item.path === path);
    if (before === undefined) return [`${path} is new`];
    return before.hash === hash ? [] : [`${path} has changed`];
  });
  const gone = known.items.filter(
    ({ kind, path }) => guardKinds.has(kind) && !items.some((item) => item.path === path),
  );
  changes.push(...gone.map(({ path }) => `${path} is gone`));
  return { state: changes.length === 0 ? "trusted" : "changed", changes };
}

async function read(file: string): Promise<readonly TrustedFolder[]> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw new CommandError(oneLine(`${file} cannot be read (${code ?? "unknown error"}).`, 1000));
  }
  try {
    const { version, folders } = JSON.parse(text) as Record<string, unknown>;
    if (version === 1 && Array.isArray(folders) && folders.every(isFolder)) return folders;
  } catch {
    // reported below
  }
  throw new CommandError(
    oneLine(`${file} is not a list of trusted folders. Fix or delete it.`, 1000),
  );
}

function isFolder(value: unknown): value is TrustedFolder {
  const { folder, since, items } = (value ?? {}) as Record<string, unknown>;
  return (
    typeof folder === "string" &&
    typeof since === "number" &&
    Array.isArray(items) &&
    items.every(isItem)
  );
}

function isItem(value: unknown): value is TrustItem {
  const { path, kind, hash } = (value ?? {}) as Record<string, unknown>;
  return typeof path === "string" && typeof kind === "string" && typeof hash === "string";
}

/** Waits while another process writes. The lock of a process that died is released. */
async function hold(store: Store, waitMs: number): Promise<SessionWriter> {
  const until = performance.now() + waitMs;
  for (;;) {
    try {
      return await openOrCreate(store);
    } catch (error) {
      const isBusy =
        isBowlineError(error) && (error.code === "session_locked" || /exists/.test(error.message));
      if (!isBusy || performance.now() > until) {
        const { message } = error as Error;
        throw new CommandError(oneLine(`The trust list cannot be changed: ${message}`, 1000), {
          cause: error,
        });
      }
      await wait(RETRY_MS);
    }
  }
}

async function openOrCreate(store: Store): Promise<SessionWriter> {
  try {
    return await store.open(LOCK);
  } catch (error) {
    if (!isBowlineError(error) || error.code !== "not_found") throw error;
    return store.create({ id: LOCK, createdAt: systemClock.now() });
  }
}
