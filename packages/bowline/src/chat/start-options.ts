/** What a conversation needs of the command that starts it. */
import type { Agent, AgentTool, Model } from "@bowline/core";
import type { Session, Store } from "@bowline/core/session";
import type { Hooks } from "../hooks/hooks.ts";
import type { Servers } from "../mcp/servers.ts";
import type { Wanted } from "../models/discover.ts";
import type { SubAgentStart } from "../project/agent-tool.ts";
import type { Project } from "../project/project.ts";
import type { ServerChoice } from "../settings/server-choice.ts";
import type { Sandbox } from "../tools/index.ts";
import type { Environment } from "./chat.ts";
import type { ChatOptions } from "./options.ts";

/** What the command knows of stored sessions. */
interface SessionPorts {
  /** The id of the session to go on with. Undefined: a new one. */
  find(store: Store): Promise<string | undefined>;
  /** The server and model of a stored session, unless the options name others. */
  wanted(server: ServerChoice, session: Session | undefined): Promise<Wanted>;
  metadata(model: Model, server: ServerChoice): Readonly<Record<string, unknown>>;
}

/** What the tools of a conversation need beside its project. */
interface ToolPorts {
  readonly startSubAgent: (start: SubAgentStart) => Promise<Agent>;
  /** Returns the path patterns that a tool's searches omit. */
  readonly hidden: (tool: string) => readonly string[];
  readonly sandbox: Sandbox;
  readonly outputFolder: string;
  readonly servers: Servers;
  readonly hooks: Hooks;
}

/** A folder that `close` removes, if nothing names its files by then. */
interface OutputFolder {
  readonly path: string;
  readonly close: () => Promise<void>;
}

export interface StartOptions {
  readonly options: ChatOptions;
  readonly directory: string;
  readonly env: Environment;
  readonly sessions: SessionPorts;
  /**
   * Creates the tools that the options and the settings choose. The returned function returns them
   * as they are now.
   */
  readonly createTools: (project: Project, ports: ToolPorts) => () => AgentTool[];
  /** Opens the folder for the full text of long output. */
  readonly openOutputs: (hasSession: boolean) => Promise<OutputFolder>;
  readonly now: () => number;
}
