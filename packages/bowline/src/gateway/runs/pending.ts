/**
 * Stores accepted messages until they are processed, one file each. A message is stored before its
 * client gets the response. After a crash the files show which runs to resume and which messages
 * are unprocessed.
 */
import { createHash } from "node:crypto";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { User } from "../access/user.ts";
import type { Attachment } from "../protocol/protocol.ts";
import { replaceFile } from "../../replace-file.ts";

/** An accepted message. */
export interface PendingMessage {
  /** The id of the run that the message begins, or else an id of the message. */
  readonly id: string;
  /** `held`: the message waits for the next run of its session. */
  readonly kind: "send" | "steer" | "followUp" | "held";
  readonly sessionKey: string;
  readonly agentId: string;
  readonly text: string;
  readonly attachments?: readonly Attachment[];
  /**
   * The user who sent the message. Absent: unknown, since an earlier version stored the message.
   */
  readonly user?: User;
  /** The run was aborted. The process that resumes it only brings it to its end. */
  readonly isAborted?: true;
  /** How often the run was resumed by a process that then crashed. Absent: never resumed. */
  readonly restarts?: number;
  /** In milliseconds since the epoch. Time and text together identify the message. */
  readonly timestamp: number;
}

/** Identifies a message. Messages of two sessions may have the same id. */
export type PendingName = Pick<PendingMessage, "sessionKey" | "id">;

export interface Pending {
  /**
   * Stores a message and replaces one with the same session and id. Rejects with `storage_failed`.
   */
  add(message: PendingMessage): Promise<void>;
  remove(message: PendingName): Promise<void>;
  /** Returns the messages of an earlier process, oldest first. Rejects if they cannot be read. */
  list(): Promise<PendingMessage[]>;
}

/**
 * Stores the new kind of a message for the next process. If that fails, the stored kind stays as it
 * was.
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
        return []; // the folder is created with the first message
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
        } else await rm(path, { force: true }); // an incomplete write; no client got a response
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
