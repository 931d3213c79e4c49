/** The folder for the full text of long command output, which results name. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataFolder } from "../home.ts";

export interface OutputFolder {
  readonly path: string;
  readonly close: () => Promise<void>;
}

/**
 * Opens the folder. The outputs of a session stay beside the sessions, at most 1 GB in all, because
 * the session can be continued. Others are removed on `close`: nothing names them then. So are
 * those of a session whose data folder cannot be written, because it is not saved either.
 */
export async function openOutputFolder(
  env: Readonly<Record<string, string | undefined>>,
  hasSession: boolean,
): Promise<OutputFolder> {
  if (hasSession) {
    const path = join(dataFolder(env), "outputs");
    const isMade = await mkdir(path, { recursive: true, mode: 0o700 }).then(
      () => true,
      () => false,
    );
    if (isMade) return { path, close: async () => {} };
  }
  const path = await mkdtemp(join(tmpdir(), "bowline-outputs-"));
  return { path, close: () => rm(path, { recursive: true, force: true }) };
}
