/** One connection to a server: from its handshake until it ends. */
import type { Clock } from "@bowline/core";
import {
  Client,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type AuthProvider,
  type FetchLike,
  type OAuthClientProvider,
  type ProtocolEra,
  type Transport,
} from "@modelcontextprotocol/client";
import type { Environment } from "../config/expand.ts";
import type { HttpConfig, ServerConfig } from "../config/server-config.ts";
import type { FilledLimits, McpOptions } from "../options.ts";
import { boundedFetch } from "../wire/bounded-fetch.ts";
import { mendTools, type McpToolProblem } from "../wire/mend-tools.ts";
import { StdioTransport } from "../wire/stdio-transport.ts";
import { addHandlers, capabilitiesOf } from "./handlers.ts";
import { OpenRequests } from "./open-requests.ts";

/** What a session needs of the program. */
export interface SessionPorts {
  readonly config: ServerConfig;
  readonly options: McpOptions;
  readonly env: Environment;
  readonly clock: Clock;
  readonly limits: FilledLimits;
  readonly auth: AuthProvider | OAuthClientProvider | undefined;
  /** Is told of each tool that is taken out of a list. */
  readonly onProblem: (problem: McpToolProblem) => void;
  /** Is told of everything that is wrong and does not end the connection. */
  readonly onWarning: (error: Error) => void;
  readonly onToolsChanged: () => void;
  readonly redact: (text: string) => string;
}

/** The transports of the client library for remote servers. */
export type RemoteTransport = StreamableHTTPClientTransport | SSEClientTransport;

/** How long a server over a pipe has to answer whether it speaks the newest protocol. */
const PROBE_MS = 10_000;
/** Longest delay of a timer. Times are limited by the clock that was passed in. */
const NEVER = 2_147_483_647;
const MAX_PAGES = 64;

export class Session {
  readonly client: Client;
  readonly transport: StdioTransport | RemoteTransport;
  /** Resolves when the connection has ended, for whatever reason. */
  readonly closed: Promise<void>;
  isClosed = false;
  #isConnected = false;
  readonly #redact: SessionPorts["redact"];

  private constructor(
    client: Client,
    transport: StdioTransport | RemoteTransport,
    redact: SessionPorts["redact"],
  ) {
    this.client = client;
    this.transport = transport;
    this.#redact = redact;
    this.closed = new Promise((resolve) => {
      const { onclose } = transport;
      transport.onclose = () => {
        onclose?.();
        this.isClosed = true;
        resolve();
      };
    });
  }

  /** Prepares a connection. `kind` is how to reach a remote server. */
  static create(ports: SessionPorts, kind: "stdio" | "http" | "sse"): Session {
    const { config, options, limits } = ports;
    const client = new Client(options.clientInfo ?? { name: "bowline-mcp", version: "0.1.0" }, {
      capabilities: capabilitiesOf(options),
      versionNegotiation: {
        mode: "auto",
        probe: { timeoutMs: kind === "stdio" ? PROBE_MS : NEVER },
      },
      listMaxPages: MAX_PAGES,
      // Without a delay: the result of the call that changed the tools waits for the new list.
      listChanged: {
        tools: { autoRefresh: false, debounceMs: 0, onChanged: ports.onToolsChanged },
      },
    });
    addHandlers(client, config.name, options);
    client.onerror = ports.onWarning;
    const open = new OpenRequests(ports.clock);
    const { reach } = config;
    const transport =
      reach.kind === "stdio"
        ? new StdioTransport({ ...limits, config: reach, env: ports.env, clock: ports.clock })
        : remote(reach, kind === "sse" ? "sse" : "http", ports, open);
    open.attach(transport);
    const session = new Session(client, transport, ports.redact);
    const { onerror, onmessage } = transport;
    transport.onerror = (error) => {
      onerror?.(error);
      // From then on the client reports it too. Failures of HTTP reach who made the request.
      if (!session.#isConnected && kind === "stdio") ports.onWarning(error);
    };
    // The client library calls this before it reads the message itself.
    (transport as Transport).onmessage = (message) => {
      onmessage?.(message);
      mendTools(message, ports.onProblem);
    };
    return session;
  }

  /** Connects. `era` is what a former connection to this server had agreed on. */
  async connect(signal: AbortSignal, era: ProtocolEra | undefined): Promise<void> {
    await this.client.connect(this.transport, {
      signal,
      timeout: NEVER,
      ...(era === "legacy" && { prior: { kind: "legacy" } }),
    });
    this.#isConnected = true;
    if (!(this.transport instanceof SSEClientTransport)) return;
    // Answers come on one stream. Without it, open calls would wait for ever.
    const { onerror } = this.client;
    this.client.onerror = (error) => {
      onerror?.(error);
      if (SseError.isInstance(error)) void this.close();
    };
  }

  /** The way in which every request is sent: its time is limited elsewhere. */
  requestOptions(signal: AbortSignal): { signal: AbortSignal; timeout: number } {
    return { signal, timeout: NEVER };
  }

  /** The last that the server's process wrote to stderr, without secrets. */
  get stderr(): string | undefined {
    if (!(this.transport instanceof StdioTransport)) return undefined;
    return this.#redact(this.transport.stderr);
  }

  /** The first that the server's process wrote to stdout and that is no message. */
  get noise(): string | undefined {
    return this.transport instanceof StdioTransport ? this.transport.noise : undefined;
  }

  /** How the server's process ended. */
  get end(): string | undefined {
    return this.transport instanceof StdioTransport ? this.transport.end : undefined;
  }

  async close(): Promise<void> {
    await this.client.close().catch(() => {});
    // A client that was never connected does not know its transport.
    if (!this.isClosed) await this.transport.close().catch(() => {});
  }
}

function remote(
  { url, headers }: HttpConfig,
  kind: "http" | "sse",
  { auth, limits, options }: SessionPorts,
  open: OpenRequests,
): RemoteTransport {
  const given: FetchLike = (address, init) => (options.fetch ?? fetch)(address, init);
  const shared = {
    fetch: boundedFetch({
      fetch: given,
      messageBytes: limits.messageBytes,
      streams: open,
    }),
    requestInit: { headers: { ...headers } },
    ...(auth !== undefined && { authProvider: auth }),
  };
  return kind === "sse"
    ? new SSEClientTransport(url, shared)
    : new StreamableHTTPClientTransport(url, shared);
}
