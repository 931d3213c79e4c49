/** What the gateway itself reads of a workspace: only what the file tools would open there. */
import { openFile } from "../tools/open-file.ts";
import { createWorkspace, resolveInside } from "../tools/workspace.ts";

const MAX_BYTES = 256 * 1024;

/**
 * The beginning, if it is long; undefined for what is not there, is no regular file or is
 * elsewhere, where a link may lead.
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
