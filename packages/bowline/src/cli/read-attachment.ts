/** Reads a file that an option names, within the size that model servers take. */
import { readFile, stat } from "node:fs/promises";
import { UsageError } from "../command-error.ts";

/** Throws `UsageError`, naming the option, for a file that cannot be read or is too large. */
export async function readAttachment(
  option: string,
  path: string,
  maxBytes: number,
): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > maxBytes)
      throw new UsageError(
        `${option} ${path}: ${size} bytes is more than the ${maxBytes} that model servers take.`,
      );
    return await readFile(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `${option} ${path}: cannot be read (${(error as NodeJS.ErrnoException).code ?? (error as Error).message}).`,
    );
  }
}
