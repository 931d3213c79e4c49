/** What happens to servers, as a program is told. */
import type { ErrorInfo } from "@bowline/core";

/** Something that happened to a server. All texts are bounded. */
export type McpEvent =
  /** The server has started, again perhaps, and its tools are listed. */
  | { readonly type: "server_ready"; readonly server: string; readonly tools: readonly string[] }
  /** The server did not start, or ended and is not restarted any more. */
  | { readonly type: "server_failed"; readonly server: string; readonly error: ErrorInfo }
  /** The server ended or was lost. Its open calls have failed. It is restarted after the delay. */
  | {
      readonly type: "server_lost";
      readonly server: string;
      readonly error: ErrorInfo;
      readonly restartInMs: number;
    }
  /** The list of tools has changed. The names are those that a model sees. */
  | {
      readonly type: "tools_changed";
      readonly server: string;
      readonly added: readonly string[];
      readonly removed: readonly string[];
    }
  /** The server sent something that the protocol does not allow. At most 20 for each start. */
  | { readonly type: "server_warning"; readonly server: string; readonly message: string };
