/** The interface of open files, so that tests can pass a failing file. */
import { open, type FileHandle } from "node:fs/promises";

export interface ReadableFile extends Pick<FileHandle, "read"> {
  stat(): Promise<{ readonly size: number; readonly mtimeMs: number; readonly nlink: number }>;
}

/** A file that writes at its end, regardless of the read position. */
export type AppendableFile = ReadableFile &
  Pick<FileHandle, "write" | "truncate" | "datasync" | "close">;

/**
 * Opens a file, runs `work`, and always closes the file. `flags` are those of `open`. A new file is
 * accessible only to its owner.
 */
export async function withFile<T>(
  path: string,
  flags: string,
  work: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await open(path, flags, 0o600);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/**
 * Writes all bytes. A write to a full disk may be partial without an error; only the next one
 * fails.
 */
export async function writeAll(file: Pick<FileHandle, "write">, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;)
    at += (await file.write(bytes, at, bytes.length - at)).bytesWritten;
}

/** Syncs the folder, so that a new file name survives a power failure. */
export async function syncFolder(path: string): Promise<void> {
  try {
    await withFile(path, "r", (folder) => folder.sync());
  } catch {
    // not possible on every system, such as Windows
  }
}
