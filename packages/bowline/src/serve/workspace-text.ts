/** Reads workspace files for the gateway, with the same confinement as the file tools. */
import { openFile } from "../tools/open-file.ts";
import { createWorkspace, resolveInside } from "../tools/workspace.ts";

const MAX_BYTES = 256 * 1024;

/**
 * Returns the beginning of a file, at most 256 KiB. Returns undefined if it is missing, not a
 * regular file, or a link that leads outside.
 */
export async function readWorkspaceText(
  workspacePath: string,
  name: string,
): Promise<string | undefined> {
  try {
    const workspace = createWorkspace({ root: workspacePath });
    const { handle } = await openFile(workspace, await resolveInside(workspace, name));
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}
