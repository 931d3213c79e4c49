/** What is needed of open files, so that a test can be one that fails. */
import { open, type FileHandle } from "node:fs/promises";

export interface ReadableFile extends Pick<FileHandle, "read"> {
  stat(): Promise<{ readonly size: number; readonly mtimeMs: number; readonly nlink: number }>;
}

/** Writes at its end, wherever it was read. */
export type AppendableFile = ReadableFile &
  Pick<FileHandle, "write" | "truncate" | "datasync" | "close">;

/**
 * An open file that is closed whatever happens. `flags` as for `open`; a file that is made is its
 * owner's only.
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

/** A disk that fills up takes a part and says nothing; only the next write fails. */
export async function writeAll(file: Pick<FileHandle, "write">, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;)
    at += (await file.write(bytes, at, bytes.length - at)).bytesWritten;
}
