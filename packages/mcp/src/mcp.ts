/** The connected servers, their tools, prompts and resources. */
import type { AgentTool, UserContent } from "@bowline/core";
import type { McpPrompt, McpPromptMessages } from "./prompts.ts";
import type { McpResource } from "./resources.ts";
import type { McpServerState } from "./server-state.ts";

/** The connected servers. `connectMcp` creates it. */
export interface Mcp extends AsyncDisposable {
  /** The tools of all servers that are ready, as they are now: a new array each time. */
  readonly tools: AgentTool[];
  /** The state of each server, as it is now. */
  readonly servers: McpServerState[];
  /**
   * Calls `listener` with all tools whenever they have changed: a server changed its list, failed or
   * came back. Returns a function that unsubscribes it.
   */
  onToolsChanged(listener: (tools: AgentTool[]) => void): () => void;
  /** Lists the resources of one server, or of all that are ready. At most 1,000 of each. */
  resources(server?: string): Promise<McpResource[]>;
  /** Reads a resource as content for a message. Its text is cut as a tool's result is. */
  readResource(server: string, uri: string, signal?: AbortSignal): Promise<UserContent[]>;
  /** Lists the prompts of one server, or of all that are ready. At most 1,000 of each. */
  prompts(server?: string): Promise<McpPrompt[]>;
  /** Fills in a server's prompt. Its texts are cut as a tool's result is. */
  getPrompt(
    server: string,
    name: string,
    args?: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<McpPromptMessages>;
  /**
   * Ends an authorization that needed a person: pass the query of the address to which the person
   * was sent back. Starts the server again if it is not ready.
   */
  finishAuth(server: string, answer: URLSearchParams): Promise<void>;
  /** Starts a server again that has failed. Its state says how it went. */
  restart(server: string): Promise<void>;
  /** Closes all connections and ends all processes. Calls that are open fail. */
  close(): Promise<void>;
}
