/** What happens to the MCP servers of a command, for a person and for a program. */
import { oneLine } from "../terminal.ts";

/** JSON-safe. `bowline run --json` prints it as a line. */
export interface ServerNews {
  readonly type: "mcp_server";
  readonly server: string;
  /** `warning`: the server goes on, and sent something that the protocol does not allow. */
  readonly status: "ready" | "restarting" | "failed" | "warning";
  /** The number of its tools, if it is ready. */
  readonly tools?: number;
  /** Why it is not ready, or what was wrong. */
  readonly message?: string;
}

/** Whether a person must see it even if they asked for little. */
export function isTrouble({ status }: ServerNews): boolean {
  return status === "failed" || status === "restarting";
}

/** Formats it as one line. */
export function newsLine({ server, status, tools = 0, message = "" }: ServerNews): string {
  const name = `MCP server ${JSON.stringify(oneLine(server, 80))}`;
  const why = oneLine(message, 600);
  switch (status) {
    case "ready":
      return `${name} is connected: ${tools} tool${tools === 1 ? "" : "s"}.`;
    case "restarting":
      return `${name} ended and is started again: ${why}`;
    case "failed":
      return `${name} FAILED, its tools are missing: ${why}`;
    case "warning":
      return `${name}: ${why}`;
  }
}
