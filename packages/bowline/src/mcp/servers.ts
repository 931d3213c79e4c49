/**
 * The MCP servers of a command. They start in the background, so that nothing waits for them but a
 * run that needs their tools, and end with the command.
 */
import type { AgentTool } from "@bowline/core";
import type { Mcp, McpEvent, McpServerEntry, McpServerState } from "@bowline/mcp";
import type { ServerSetting } from "../project/server-files.ts";
import { isRecord } from "../settings/shapes.ts";
import { entryIn, secretIn, variablesFor } from "./entry-for.ts";
import type { ServerNews } from "./news.ts";

export interface ServersOptions {
  readonly settings: readonly ServerSetting[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The project's root. */
  readonly root: string;
  /** The working directory. */
  readonly directory: string;
  /** The user's own settings file, for advice. */
  readonly ownSettings: string;
  readonly tell: (news: ServerNews) => void;
}

/** A server and how it stands. */
export interface ListedServer {
  readonly name: string;
  /** The file that has it. */
  readonly path: string;
  /** `off`: its entry says so. */
  readonly status: McpServerState["status"] | "off";
  readonly tools: readonly string[];
  readonly problems: McpServerState["problems"];
  readonly message?: string;
  /** The last that its process wrote to stderr. */
  readonly stderr?: string;
}

export class Servers {
  readonly #options: ServersOptions;
  /** The user's and the project's, which may refer to different variables. */
  #groups: Mcp[] = [];
  readonly #refused = new Map<ServerSetting, string>();
  /** Whether all servers were started. */
  #isOpen = false;
  #isClosed = false;
  readonly #opening: Promise<void>;
  readonly #listeners = new Set<() => void>();

  /** Starts the servers in the background. Loads nothing if there are none. */
  constructor(options: ServersOptions) {
    this.#options = options;
    this.#opening = options.settings.length === 0 ? Promise.resolve() : this.#open();
  }

  /** The tools of the servers that are ready. */
  get tools(): AgentTool[] {
    return this.#groups.flatMap(({ tools }) => tools);
  }

  /** What the names of the servers' tools begin with, before `__`, of all servers. */
  get prefixes(): readonly string[] {
    return this.#options.settings.map(({ prefix }) => prefix);
  }

  /** Calls `listener` when a server, or the list of tools, has changed. */
  onChanged(listener: () => void): void {
    this.#listeners.add(listener);
  }

  list(): readonly ListedServer[] {
    const states = this.#groups.flatMap(({ servers }) => servers);
    return this.#options.settings.map((setting): ListedServer => {
      const { name, path } = setting;
      const refused = this.#refused.get(setting);
      const none = { name, path, tools: [], problems: [] };
      if (refused !== undefined) return { ...none, status: "failed", message: refused };
      const state = states.find((one) => one.name === name);
      if (state === undefined) return { ...none, status: this.#isOpen ? "off" : "starting" };
      const { status, tools, problems, error, stderr } = state;
      return {
        name,
        path,
        status,
        tools,
        problems,
        ...(error !== undefined && { message: error.message }),
        ...(stderr !== undefined && stderr.trim() !== "" && { stderr }),
      };
    });
  }

  /**
   * Waits until no server is starting, at most `limitMs` milliseconds. Resolves early when the signal
   * fires. Resolves to the names of those that are still starting.
   */
  async settled(limitMs: number, signal?: AbortSignal): Promise<readonly string[]> {
    if (this.starting.length > 0 && signal?.aborted !== true)
      await new Promise<void>((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          this.#listeners.delete(look);
          signal?.removeEventListener("abort", end);
          resolve();
        };
        const look = (): void => {
          if (this.starting.length === 0) end();
        };
        const timer = setTimeout(end, limitMs);
        this.#listeners.add(look);
        signal?.addEventListener("abort", end, { once: true });
      });
    return this.starting;
  }

  /** The names of the servers that are starting for the first time. */
  get starting(): readonly string[] {
    if (this.#isClosed) return [];
    return this.list().flatMap(({ name, status }) => (status === "starting" ? [name] : []));
  }

  /** Ends all servers and what they started. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#change();
    await this.#opening;
    await Promise.all(this.#groups.map((group) => group.close()));
  }

  async #open(): Promise<void> {
    try {
      const { connectMcp, whyNotServer } = await import("@bowline/mcp");
      for (const owner of ["user", "project"] as const) {
        if (this.#isClosed) return;
        const { env } = this.#options;
        const variables = variablesFor(owner, env);
        const entries: Record<string, McpServerEntry> = {};
        for (const setting of this.#options.settings.filter((one) => one.owner === owner)) {
          const entry = entryIn(setting, this.#options);
          const why =
            this.#whySecret(setting) ??
            (isRecord(setting.entry)
              ? whyNotServer(setting.name, entry, variables)
              : "Its entry is no object.");
          if (why === undefined) entries[setting.name] = entry;
          else this.#refuse(setting, why);
        }
        if (Object.keys(entries).length === 0) continue;
        const group = await connectMcp({
          servers: { mcpServers: entries },
          env: variables,
          wait: false,
          onEvent: (event) => this.#event(event),
        });
        this.#groups.push(group);
        group.onToolsChanged(() => this.#change());
      }
    } catch (error) {
      // Nothing but a broken installation: entries were checked.
      const why = error instanceof Error ? error.message : String(error);
      for (const setting of this.#options.settings) this.#refuse(setting, why);
    } finally {
      this.#isOpen = true;
      this.#change();
    }
  }

  #whySecret(setting: ServerSetting): string | undefined {
    const { env, ownSettings } = this.#options;
    const secret = secretIn(setting, env);
    if (secret === undefined) return undefined;
    return (
      `It asks for ${secret}, which looks like a secret. A project's servers get none of your secrets. ` +
      `To give it this one, copy the server to mcpServers in ${ownSettings}.`
    );
  }

  #refuse(setting: ServerSetting, message: string): void {
    this.#refused.set(setting, message);
    this.#tell({ type: "mcp_server", server: setting.name, status: "failed", message });
  }

  #event(event: McpEvent): void {
    const { server } = event;
    switch (event.type) {
      case "server_ready":
        this.#tell({ type: "mcp_server", server, status: "ready", tools: event.tools.length });
        break;
      case "server_failed":
        this.#tell({ type: "mcp_server", server, status: "failed", message: event.error.message });
        break;
      case "server_lost": {
        const { message } = event.error;
        this.#tell({ type: "mcp_server", server, status: "restarting", message });
        break;
      }
      case "server_warning":
        this.#tell({ type: "mcp_server", server, status: "warning", message: event.message });
        break;
      case "tools_changed":
        break; // the listeners of the group are told
    }
    this.#change();
  }

  #tell(news: ServerNews): void {
    if (!this.#isClosed) this.#options.tell(news);
  }

  #change(): void {
    for (const listener of this.#listeners) listener();
  }
}
