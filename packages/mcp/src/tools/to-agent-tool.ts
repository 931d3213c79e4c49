/** A server's tool as a tool of an agent. */
import { defineTool, type AgentTool } from "@bowline/core";
import type { Progress, Tool } from "@modelcontextprotocol/client";
import type { McpOptions } from "../options.ts";
import type { McpServer } from "../server/mcp-server.ts";
import { cutText } from "../cut-text.ts";
import { readResult } from "./read-result.ts";

const MAX_DESCRIPTION = 4_000;
const MAX_LABEL = 200;
/** Progress is reported no more often than this, in milliseconds. */
const PROGRESS_MS = 100;

/** What a tool needs besides its server. */
export interface AgentToolPorts {
  readonly needsApproval: McpOptions["needsApproval"];
  readonly resultLength: number;
  readonly now: () => number;
}

/** Throws `invalid_argument` for a schema that cannot be checked. */
export function toAgentTool(
  name: string,
  server: McpServer,
  tool: Tool,
  { needsApproval = true, resultLength, now }: AgentToolPorts,
): AgentTool {
  const { title = tool.annotations?.title ?? tool.name, description = "" } = tool;
  const { title: _, ...hints } = tool.annotations ?? {};
  const about = { server: server.name, tool: tool.name, hints };
  return defineTool({
    name,
    label: cutText(title, MAX_LABEL),
    description: cutText(description, MAX_DESCRIPTION),
    parameters: tool.inputSchema,
    needsApproval:
      typeof needsApproval === "function"
        ? (args) => needsApproval({ ...about, args })
        : needsApproval,
    async execute(args, run) {
      let last = -Infinity;
      const onProgress = (progress: Progress): void => {
        if (now() - last < PROGRESS_MS) return;
        last = now();
        run.update(server.redact(progressText(progress)));
      };
      const result = await server.call(tool, args, run.signal, onProgress);
      const outputSchema = tool.outputSchema;
      return readResult(result, { length: resultLength, redact: server.redact, outputSchema });
    },
  }) as AgentTool;
}

function progressText({ progress, total, message }: Progress): string {
  const count = total === undefined ? String(progress) : `${progress} of ${total}`;
  return message === undefined ? count : `${count}: ${cutText(message, 500)}`;
}
