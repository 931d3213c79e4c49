/**
 * What was accepted and is not done: a file each, on the disk before the client is told. After a
 * crash it says which runs to take up again and which messages nobody has seen yet.
 */
import { createHash } from "node:crypto";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { User } from "../access/user.ts";
import type { Attachment } from "../protocol/protocol.ts";
import { replaceFile } from "../../replace-file.ts";

/** A message that was accepted. */
export interface PendingMessage {
  /** The run it begins, or a name of its own. */
  readonly id: string;
  /** `held`: it waits for the next run of its session. */
  readonly kind: "send" | "steer" | "followUp" | "held";
  readonly sessionKey: string;
  readonly agentId: string;
  readonly text: string;
  readonly attachments?: readonly Attachment[];
  /** Whose message it is. Absent: kept by an earlier version, so that it is not known. */
  readonly user?: User;
  /** Its run was told to stop: who takes it up again brings it to its end. */
  readonly isAborted?: true;
  /** How often its run was taken up by a process that then died. Absent: never taken up. */
  readonly restarts?: number;
  /** Milliseconds since the epoch: with the text it tells the message apart from others. */
  readonly timestamp: number;
}

/** Names a message: those of two sessions may have the same id. */
export type PendingName = Pick<PendingMessage, "sessionKey" | "id">;

export interface Pending {
  /**
   * In place of one of the same session and id. Resolves when it is on the disk. Rejects with
   * `storage_failed`.
   */
  add(message: PendingMessage): Promise<void>;
  remove(message: PendingName): Promise<void>;
  /** What an earlier process left, oldest first. Rejects when that cannot be read. */
  list(): Promise<PendingMessage[]>;
}

/**
 * Says on the disk, too, what became of a message, so that the next process need not guess. Where
 * there is no room it is as it was.
 */
export async function keepAs(
  pending: Pending,
  kind: "send" | "held",
  message: PendingMessage,
): Promise<PendingMessage> {
  if (message.kind === kind) return message;
  const kept = { ...message, kind };
  await pending.add(kept).catch(() => {});
  return kept;
}

export function createMemoryPending(): Pending {
  const all = new Map<string, PendingMessage>();
  return {
    add: async (message) => void all.set(nameOf(message), message),
    remove: async (message) => void all.delete(nameOf(message)),
    list: async () => [...all.values()],
  };
}

export function createPendingFolder(folder: string): Pending {
  const pathOf = (message: PendingName): string =>
    join(folder, `${createHash("sha256").update(nameOf(message)).digest("hex")}.json`);
  return {
    add: (message) => replaceFile(pathOf(message), JSON.stringify(message)),
    remove: (message) => rm(pathOf(message), { force: true }),
    async list() {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
        return []; // there is none: nothing was ever accepted
      });
      const found: PendingMessage[] = [];
      for (const name of names) {
        const path = join(folder, name);
        if (name.endsWith(".json")) {
          const message = parse(await readFile(path, "utf8"));
          if (message === undefined) continue;
          found.push(message);
          // Earlier versions named the file by the id alone.
          if (path !== pathOf(message)) await rename(path, pathOf(message));
        } else await rm(path, { force: true }); // half written: nobody was told
      }
      return found.toSorted((a, b) => a.timestamp - b.timestamp);
    },
  };
}

export function nameOf({ sessionKey, id }: PendingName): string {
  return JSON.stringify([sessionKey, id]);
}

function parse(text: string): PendingMessage | undefined {
  try {
    const message = JSON.parse(text) as PendingMessage;
    return typeof message.id === "string" && typeof message.sessionKey === "string"
      ? message
      : undefined;
  } catch {
    return undefined;
  }
}
