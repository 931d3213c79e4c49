/** One server over its whole life: started, listed, lost, started again, closed. */
import type { ErrorInfo } from "@bowline/core";
import type { CallToolResult, Progress, Tool } from "@modelcontextprotocol/client";
import { BowlineError, createRedactor, isBowlineError } from "@bowline/core";
import type { McpServerState, McpServerStatus } from "../server-state.ts";
import { cutText } from "../cut-text.ts";
import type { McpToolProblem } from "../wire/mend-tools.ts";
import { chooseTools } from "./choose-tools.ts";
import { withDeadline } from "./deadline.ts";
import { connectSession, withEnd } from "./connect-session.ts";
import { explain, isLost, isRefused, isUnauthorized, say, toInfo } from "./failure.ts";
import type { Session, SessionPorts } from "./session.ts";

/** What a server tells the whole. */
export interface ServerListener {
  /** The tools may be others. */
  changed(server: McpServer): void;
  ready(server: McpServer): void;
  failed(server: McpServer, error: ErrorInfo): void;
  lost(server: McpServer, error: ErrorInfo, restartInMs: number): void;
  warned(server: McpServer, message: string): void;
}

type Ports = Omit<SessionPorts, "onProblem" | "onWarning" | "onToolsChanged" | "redact">;

const MAX_PROBLEMS = 100;
const MAX_WARNINGS = 20;
const MAX_RESTART_DELAY_MS = 30_000;
/** A server that was ready for so long may use all its restarts again. */
const STABLE_MS = 60_000;
const MAX_INSTRUCTIONS = 4_000;
/** Shortest time from one listing of changed tools to the next, in milliseconds. */
const REFRESH_PAUSE_MS = 300;
/** Longest that a call's result waits for the list of tools that the call changed. */
const REFRESH_WAIT_MS = 2_000;

export class McpServer {
  status: McpServerStatus = "starting";
  /** As the server listed them, without those that were taken out. */
  tools: readonly Tool[] = [];
  problems: McpToolProblem[] = [];
  readonly redact: (text: string) => string;
  readonly #ports: Ports;
  readonly #listener: ServerListener;
  #session: Session | undefined;
  #error: ErrorInfo | undefined;
  /** Settles when the server is ready or is not coming back. */
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  readonly #ended = new AbortController();
  #restarts = 0;
  #warnings = 0;
  #refreshing: Promise<void> | undefined;
  #isStale = false;
  /** When the last listing of changed tools began. */
  #refreshedAt = -Infinity;

  constructor(ports: Ports, listener: ServerListener) {
    this.#ports = ports;
    this.#listener = listener;
    this.redact = createRedactor(ports.config.secrets).text;
  }

  get name(): string {
    return this.#ports.config.name;
  }

  get error(): ErrorInfo | undefined {
    return this.#error;
  }

  /** The state without the names that models see. */
  state(tools: readonly string[], problems: readonly McpToolProblem[]): McpServerState {
    const client = this.#session?.client;
    const instructions = client?.getInstructions();
    const version = client?.getNegotiatedProtocolVersion();
    const info = client?.getServerVersion();
    const stderr = this.#session?.stderr;
    return {
      name: this.name,
      status: this.status,
      tools,
      problems: [...this.problems, ...problems].slice(0, MAX_PROBLEMS),
      ...(this.#error && { error: this.#error }),
      ...(instructions && { instructions: cutText(instructions, MAX_INSTRUCTIONS) }),
      ...(version && { protocolVersion: cutText(version, 100) }),
      ...(info && {
        serverInfo: { name: cutText(info.name, 200), version: cutText(info.version, 200) },
      }),
      ...(stderr !== undefined && { stderr }),
    };
  }

  /** Starts the server. Never rejects: the state says how it went. */
  start(signal?: AbortSignal): Promise<void> {
    return this.#starting ?? this.#hold(this.#start(signal));
  }

  /** Ends an authorization that needed a person, and starts the server again. */
  async finishAuth(answer: URLSearchParams): Promise<void> {
    const transport = this.#session?.transport;
    if (transport === undefined || !("finishAuth" in transport))
      throw new BowlineError(
        "invalid_state",
        `The server "${this.name}" waits for no authorization.`,
      );
    await transport.finishAuth(answer);
    if (this.status !== "ready") await this.start();
  }

  /**
   * Calls a tool. A call that waits for a restart has not been sent yet. Rejects with a message for
   * the model that says whether the call may have run. A list of tools that has changed is read
   * before the result is returned, so that the model's next call knows it.
   */
  async call(
    tool: Tool,
    args: Record<string, unknown>,
    signal: AbortSignal | undefined,
    onProgress: ((progress: Progress) => void) | undefined,
  ): Promise<CallToolResult> {
    // The library would check the result by the output schema, and lose a result that does not fit.
    const { outputSchema: _, ...definition } = tool;
    const result = await this.request(`The tool "${tool.name}"`, signal, (session, options) =>
      session.client.callTool(
        { name: tool.name, arguments: args },
        { ...options, toolDefinition: definition, ...(onProgress && { onprogress: onProgress }) },
      ),
    );
    const refreshing = this.#refreshing;
    if (refreshing === undefined) return result;
    const wait = { ms: REFRESH_WAIT_MS, signal, late: "" };
    await withDeadline(this.#ports.clock, wait, () => refreshing).catch(() => {});
    return result;
  }

  /** Sends one request, within the time of a call. `what` begins the message of an error. */
  async request<T>(
    what: string,
    signal: AbortSignal | undefined,
    send: (session: Session, options: { signal: AbortSignal; timeout: number }) => Promise<T>,
  ): Promise<T> {
    const { clock, limits } = this.#ports;
    let session: Session | undefined;
    const late = `${what} of the server "${this.name}" took longer than ${limits.callMs} ms.`;
    try {
      return await withDeadline(clock, { ms: limits.callMs, signal, late }, async (inner) => {
        session = await this.#whenReady();
        return send(session, session.requestOptions(inner));
      });
    } catch (error) {
      if (session === undefined) throw error; // it was not sent
      if (isLost(error) && !session.isClosed) void session.close();
      throw explain(what, isLost(error) ? withEnd(error, session) : error, this.redact);
    }
  }

  async close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  /** Lets calls wait for this work. */
  #hold(work: Promise<void>): Promise<void> {
    const held = work.finally(() => {
      if (this.#starting === held) this.#starting = undefined;
    });
    return (this.#starting = held);
  }

  async #start(signal: AbortSignal | undefined): Promise<void> {
    this.status = "starting";
    const error = await this.#attempt(signal);
    if (error !== undefined) await this.#fail(error);
  }

  /** Connects and lists the tools. Returns what went wrong. */
  async #attempt(signal?: AbortSignal): Promise<unknown> {
    const { clock, limits } = this.#ports;
    const late = `The server "${this.name}" did not start within ${limits.startMs} ms.`;
    const stop = AbortSignal.any([this.#ended.signal, ...(signal ? [signal] : [])]);
    try {
      await withDeadline(clock, { ms: limits.startMs, signal: stop, late }, async (inner) => {
        const session = await connectSession(
          this.#sessionPorts(),
          this.#session,
          inner,
          (opened) => {
            this.#warnings = 0;
            this.#session = opened;
          },
        );
        await this.#list(session, inner);
        if (session.isClosed) throw withEnd(new Error("the connection ended"), session);
      });
    } catch (error) {
      const session = this.#session;
      await session?.close();
      const isLate = isBowlineError(error) && error.code === "timeout";
      const noise = isLate ? session?.noise : undefined;
      if (noise === undefined) return error;
      const told = `It wrote to its standard output what is no message: ${noise}`;
      return new BowlineError("timeout", `${late} ${told}`);
    }
    this.status = "ready";
    this.#error = undefined;
    if (this.#session) this.#watch(this.#session);
    this.#listener.changed(this);
    this.#listener.ready(this);
    if (this.#isStale) void this.#refresh();
    return undefined;
  }

  #watch(session: Session): void {
    const cancel = this.#ports.clock.setTimer(STABLE_MS, () => (this.#restarts = 0));
    void session.closed.then(() => {
      cancel();
      if (this.#session !== session || this.status !== "ready") return;
      void this.#hold(this.#recover(session));
    });
  }

  #sessionPorts(): SessionPorts {
    return {
      ...this.#ports,
      onProblem: (problem) => this.#note(problem),
      onWarning: (error) => this.#warn(error),
      onToolsChanged: () => void this.#refresh(),
      redact: this.redact,
    };
  }

  /** Asks for the tools. Leaves out what the entry does not choose, and what is too much. */
  async #list(session: Session, signal: AbortSignal): Promise<void> {
    const { limits, config } = this.#ports;
    this.problems = [];
    this.#isStale = false;
    if (session.client.getServerCapabilities()?.tools === undefined) {
      this.tools = [];
      return;
    }
    const { tools } = await session.client.listTools(undefined, {
      ...session.requestOptions(signal),
      cacheMode: "refresh",
    });
    this.tools = chooseTools(tools, config.choice, limits.tools, (problem) => this.#note(problem));
  }

  /**
   * Lists the tools again, at once or after a pause since the last time. Until that is done, further
   * changes lead to one more listing.
   */
  async #refresh(): Promise<void> {
    const session = this.#session;
    this.#isStale = true;
    if (this.#refreshing || session === undefined || this.status !== "ready") return;
    const { clock, limits } = this.#ports;
    const late = `The server "${this.name}" did not list its tools within ${limits.startMs} ms.`;
    const work = async (): Promise<void> => {
      while (this.#isStale && this.#session === session && !session.isClosed) {
        const pause = this.#refreshedAt + REFRESH_PAUSE_MS - clock.now();
        if (pause > 0) await this.#pause(pause);
        if (this.#session !== session || session.isClosed) break;
        this.#refreshedAt = clock.now();
        await withDeadline(
          clock,
          { ms: limits.startMs, signal: this.#ended.signal, late },
          (inner) => this.#list(session, inner),
        );
        this.#listener.changed(this);
      }
    };
    this.#refreshing = work()
      .catch((error: Error) => this.#warn(error))
      .finally(() => {
        this.#refreshing = undefined;
        // The server came back meanwhile, and its list has changed since.
        if (this.#isStale && this.#session !== session) void this.#refresh();
      });
    return this.#refreshing;
  }

  async #whenReady(): Promise<Session> {
    await this.#starting;
    const session = this.#session;
    if (this.status !== "ready" || session === undefined || session.isClosed) {
      const why = this.#error?.message ?? `it is ${this.status}`;
      throw new BowlineError(
        "invalid_state",
        `Not run: the server "${this.name}" is not available: ${why}`,
      );
    }
    return session;
  }

  /** Starts the server again, after growing delays, until it is ready or has had its chances. */
  async #recover(session: Session): Promise<void> {
    const { limits } = this.#ports;
    const ended = `The connection to the server "${this.name}" ended.`;
    let error = withEnd(new BowlineError("connection_failed", ended), session);
    while (this.#restarts < limits.restarts && !this.#closing) {
      const delay = Math.min(limits.restartDelayMs * 2 ** this.#restarts, MAX_RESTART_DELAY_MS);
      this.#restarts += 1;
      this.status = "restarting";
      this.#error = toInfo(error, this.redact);
      this.#listener.lost(this, this.#error, delay);
      await this.#pause(delay);
      error = await this.#attempt();
      if (error === undefined) return;
      if (isUnauthorized(error)) break;
    }
    await this.#fail(error);
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const { signal } = this.#ended;
      const end = (): void => {
        cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const cancel = this.#ports.clock.setTimer(ms, end);
      signal.addEventListener("abort", end);
    });
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#closing) return;
    const info = toInfo(error, this.redact);
    this.#error = info;
    this.status = isUnauthorized(error) ? "unauthorized" : "failed";
    this.tools = [];
    this.#listener.failed(this, info);
    this.#listener.changed(this);
  }

  async #close(): Promise<void> {
    this.status = "closed";
    this.#ended.abort();
    const session = this.#session;
    if (session !== undefined && "terminateSession" in session.transport) {
      const { clock, limits } = this.#ports;
      const { transport } = session;
      const end = { ms: limits.closeMs, late: "" };
      await withDeadline(clock, end, () => transport.terminateSession()).catch(() => {});
    }
    await session?.close();
    await this.#starting;
    this.tools = [];
  }

  #note(problem: McpToolProblem): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(problem);
  }

  #warn(error: Error): void {
    // Usual: progress that came together with the answer, and failures that a request ends with.
    if (error.message.startsWith("Received a progress notification for an unknown")) return;
    if (isLost(error) || isRefused(error)) return;
    this.#warnings += 1;
    if (this.#warnings <= MAX_WARNINGS && this.status !== "closed")
      this.#listener.warned(this, cutText(say(error, this.redact), 500));
  }
}
