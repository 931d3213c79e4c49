/** The `write` tool: creates or replaces a whole file. */
import { defineTool, type AgentTool } from "@bowline/core";
import { escapeText, showPath } from "../escape.ts";
import { stopIfAborted, toolError, toToolError } from "./tool-error.ts";
import { createWorkspace, resolveInside, type ToolOptions } from "./workspace.ts";
import { toBytes, writeFileInside } from "./write-file.ts";

/** The `details` of a write. */
export interface WriteDetails {
  readonly path: string;
  readonly bytes: number;
  readonly created: boolean;
}

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "The file, relative to the working directory" },
    content: { type: "string", description: "The whole new content" },
  },
  required: ["path", "content"],
  additionalProperties: false,
} as const;

export function createWriteTool(options: ToolOptions): AgentTool {
  const workspace = createWorkspace(options);
  return defineTool<typeof parameters, WriteDetails>({
    name: "write",
    label: "Write",
    description: `Creates a file ${workspace.where}, or replaces all of it. Missing folders are made. To change a part of a file use edit.`,
    parameters,
    // Run in the order of the calls.
    executionMode: "sequential",
    async execute({ path, content }, { signal }) {
      try {
        stopIfAborted(signal);
        const place = await resolveInside(workspace, path);
        if (/\/\.{0,2}$/.test(path))
          throw toolError(`${showPath(path)} names a folder, not a file`);
        const data = toBytes(content);
        const done = await writeFileInside(workspace, place, data, { signal });
        const verb = done === "created" ? "Created" : "Replaced";
        const text = `${verb} ${escapeText(place.shown)} (${data.length} byte${data.length === 1 ? "" : "s"})`;
        const details = { path: place.shown, bytes: data.length, created: done === "created" };
        return { content: [{ type: "text", text }], details };
      } catch (error) {
        throw toToolError(error, path);
      }
    },
  });
}
