/** All servers of a program, and what is made of their tools. */
import { BowlineError, type AgentTool, type Clock, type UserContent } from "@bowline/core";
import type { Tool } from "@modelcontextprotocol/client";
import type { McpEvent } from "./event.ts";
import type { Mcp } from "./mcp.ts";
import type { FilledLimits, McpOptions } from "./options.ts";
import { listPrompts, readPrompt, type McpPrompt, type McpPromptMessages } from "./prompts.ts";
import { listResources, readResource, type McpResource } from "./resources.ts";
import type { McpServerState } from "./server-state.ts";
import type { McpServer, ServerListener } from "./server/mcp-server.ts";
import { toAgentTool } from "./tools/to-agent-tool.ts";
import { nameTools } from "./tools/tool-names.ts";
import type { McpToolProblem } from "./wire/mend-tools.ts";

/** What is made of one server's tools. */
interface Offer {
  readonly tools: AgentTool[];
  readonly problems: McpToolProblem[];
}

export class ServerGroup implements Mcp {
  #servers: readonly McpServer[] = [];
  #offers: ReadonlyMap<McpServer, Offer> = new Map();
  /** Whether changes are told: after the start, if that is waited for, and before the end. */
  #isOpen = false;
  readonly #options: McpOptions;
  readonly #limits: FilledLimits;
  readonly #clock: Clock;
  readonly #listeners = new Set<(tools: AgentTool[]) => void>();

  constructor(options: McpOptions, limits: FilledLimits, clock: Clock) {
    this.#options = options;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Starts the servers. Resolves when each is ready or has failed. */
  async start(create: (listener: ServerListener) => readonly McpServer[]): Promise<void> {
    this.#servers = create(this.#listener());
    this.#isOpen = this.#options.wait === false;
    await Promise.all(this.#servers.map((server) => server.start(this.#options.signal)));
    if (this.#options.wait === false) return; // each change was told, and it may be closed by now
    this.#isOpen = true;
    this.#offer();
  }

  get tools(): AgentTool[] {
    return this.#servers.flatMap((server) => this.#offers.get(server)?.tools ?? []);
  }

  get servers(): McpServerState[] {
    return this.#servers.map((server) =>
      server.state(this.#namesOf(server), this.#offers.get(server)?.problems ?? []),
    );
  }

  onToolsChanged(listener: (tools: AgentTool[]) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async resources(server?: string): Promise<McpResource[]> {
    return (await Promise.all(this.#chosen(server).map(listResources))).flat();
  }

  async readResource(server: string, uri: string, signal?: AbortSignal): Promise<UserContent[]> {
    return readResource(this.#named(server), uri, this.#limits.resultLength, signal);
  }

  async prompts(server?: string): Promise<McpPrompt[]> {
    return (await Promise.all(this.#chosen(server).map(listPrompts))).flat();
  }

  async getPrompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>> = {},
    signal?: AbortSignal,
  ): Promise<McpPromptMessages> {
    return readPrompt(this.#named(server), name, args, this.#limits.resultLength, signal);
  }

  async finishAuth(server: string, answer: URLSearchParams): Promise<void> {
    await this.#named(server).finishAuth(answer);
  }

  async restart(server: string): Promise<void> {
    const found = this.#named(server);
    if (found.status === "failed" || found.status === "unauthorized") await found.start();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await Promise.all(this.#servers.map((server) => server.close()));
    this.#offer();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #named(name: string): McpServer {
    const server = this.#servers.find((one) => one.name === name);
    if (server !== undefined) return server;
    const known = this.#servers.map((one) => one.name).join(", ") || "none";
    throw new BowlineError("invalid_argument", `There is no server "${name}". Known: ${known}.`);
  }

  #chosen(name: string | undefined): McpServer[] {
    if (name !== undefined) return [this.#named(name)];
    return this.#servers.filter(({ status }) => status === "ready");
  }

  #namesOf(server: McpServer): string[] {
    return (this.#offers.get(server)?.tools ?? []).map(({ name }) => name);
  }

  #tell(event: McpEvent): void {
    quietly(() => this.#options.onEvent?.(event));
  }

  #listener(): ServerListener {
    return {
      changed: (server) => this.#change(server),
      ready: (server) =>
        this.#tell({ type: "server_ready", server: server.name, tools: this.#namesOf(server) }),
      failed: ({ name }, error) => this.#tell({ type: "server_failed", server: name, error }),
      lost: ({ name }, error, restartInMs) =>
        this.#tell({ type: "server_lost", server: name, error, restartInMs }),
      warned: ({ name }, message) => this.#tell({ type: "server_warning", server: name, message }),
    };
  }

  /** Makes the tools again, and tells who listens if they are others than were told before. */
  #change(server: McpServer): void {
    const had = this.#namesOf(server);
    const before = this.#told;
    this.#offer();
    this.#told = JSON.stringify(
      this.tools.map(({ name, description, parameters }) => [name, description, parameters]),
    );
    if (!this.#isOpen || before === this.#told) return;
    const has = this.#namesOf(server);
    this.#tell({
      type: "tools_changed",
      server: server.name,
      added: has.filter((name) => !had.includes(name)),
      removed: had.filter((name) => !has.includes(name)),
    });
    for (const listener of this.#listeners) quietly(() => listener(this.tools));
  }

  /** What models are told of the tools, to compare it. */
  #told = "";

  #offer(): void {
    const all = this.#servers.flatMap((server) => server.tools.map((tool) => ({ server, tool })));
    const names = nameTools(
      all.map(({ server, tool }) => ({ server: server.name, tool: tool.name })),
    );
    const offers = new Map<McpServer, Offer>();
    for (const [at, { server, tool }] of all.entries()) {
      const offer = offers.get(server) ?? { tools: [], problems: [] };
      offers.set(server, offer);
      const made = this.#make(server, tool, names[at]);
      if ("reason" in made) offer.problems.push(made);
      else offer.tools.push(made);
    }
    this.#offers = offers;
  }

  #make(server: McpServer, tool: Tool, name: string | undefined): AgentTool | McpToolProblem {
    if (name === undefined) return { tool: tool.name, reason: "another tool has its name" };
    try {
      return toAgentTool(name, server, tool, {
        needsApproval: this.#options.needsApproval,
        resultLength: this.#limits.resultLength,
        now: () => this.#clock.now(),
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message.slice(0, 500) : String(error);
      return { tool: tool.name, reason };
    }
  }
}

/** A listener's fault is no reason to lose a server. */
function quietly(tell: () => void): void {
  try {
    tell();
  } catch {
    // It was told.
  }
}
