/** The state of one server, as a program sees it. */
import type { ErrorInfo } from "@bowline/core";
import type { McpToolProblem } from "./wire/mend-tools.ts";

/**
 * `unauthorized`: the server wants an authorization that is not there yet; see `finishAuth`.
 * `failed`: it did not start, or is not restarted any more; see `restart`.
 */
export type McpServerStatus =
  | "starting"
  | "ready"
  | "restarting"
  | "unauthorized"
  | "failed"
  | "closed";

/** One server of an `Mcp`. */
export interface McpServerState {
  readonly name: string;
  readonly status: McpServerStatus;
  /** The names of its tools, as a model sees them. */
  readonly tools: readonly string[];
  /** The tools that are not offered, and why. At most 100. */
  readonly problems: readonly McpToolProblem[];
  /** Why the server is not ready. */
  readonly error?: ErrorInfo;
  /** What the server says about its use, for a system prompt. At most 4,000 characters. */
  readonly instructions?: string;
  /** The version of the protocol that was agreed on. */
  readonly protocolVersion?: string;
  /** How the server names itself. */
  readonly serverInfo?: { readonly name: string; readonly version: string };
  /** The last that its process wrote to stderr, at most 8 KiB. Only of servers with a command. */
  readonly stderr?: string;
}
