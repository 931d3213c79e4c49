/** `bowline run --record`: writes the recording when the run is over, however it ends. */
import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import type { RunResult } from "@bowline/core";
import { saveRunRecording } from "../record/file.ts";
import type { RunRecorder } from "../record/record-run.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { oneLine } from "../terminal.ts";

/** Checks the path before the run, since the file is written at its end. Throws `UsageError`. */
export function assertWritable(file: string): void {
  try {
    accessSync(dirname(file), constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new UsageError(cannotWrite(file, error));
  }
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new UsageError(`--record ${oneLine(file, 300)}: is a directory.`);
}

/**
 * Writes the recording when `work` settles, or when the process exits before. Throws `CommandError`
 * if writing fails.
 */
export async function kept(
  recorder: RunRecorder,
  file: string,
  host: NodeJS.Process,
  work: () => Promise<RunResult>,
): Promise<RunResult> {
  const save = (): void => saveRunRecording(file, recorder.content());
  const leave = (): void => {
    try {
      save();
    } catch (error) {
      host.stderr.write(`bowline: ${cannotWrite(file, error)}\n`);
    }
  };
  host.once("exit", leave);
  try {
    return await work();
  } finally {
    host.off("exit", leave);
    try {
      save();
    } catch (error) {
      // oxlint-disable-next-line no-unsafe-finally -- the run reports its own failures; what is lost here is the file
      throw new CommandError(cannotWrite(file, error));
    }
  }
}

function cannotWrite(file: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return `--record ${oneLine(file, 300)}: cannot be written (${code ?? message}).`;
}
