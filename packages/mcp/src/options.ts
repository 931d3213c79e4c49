/** The options of `connectMcp`, their limits and defaults. */
import type { Clock } from "@bowline/core";
import type {
  AuthProvider,
  ElicitRequestParams,
  ElicitResult,
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
  OAuthClientProvider,
} from "@modelcontextprotocol/client";
import type { Environment } from "./config/expand.ts";
import type { McpServerEntries } from "./config/entry.ts";
import type { McpEvent } from "./event.ts";

/** Limits on what servers may take and send. `Infinity` lifts a limit on time. */
export interface McpLimits {
  /**
   * Time for the start of a server, until its tools are listed, in milliseconds. Default 60,000:
   * the program may have to be downloaded first.
   */
  readonly startMs?: number | undefined;
  /** Time for one call of a tool, prompt or resource, in milliseconds. Default 600,000. */
  readonly callMs?: number | undefined;
  /** Bytes of one message from a server. Default 16,777,216. */
  readonly messageBytes?: number | undefined;
  /** Characters of a result's text for the model. The rest is cut, with a note. Default 100,000. */
  readonly resultLength?: number | undefined;
  /** Tools of one server. The others are left out and reported. Default 500. */
  readonly tools?: number | undefined;
  /** Restarts in a row of a server that dies. Default 5. */
  readonly restarts?: number | undefined;
  /**
   * Delay before the first restart, in milliseconds. Each further one waits twice as long, up to 30
   * seconds. Default 1,000.
   */
  readonly restartDelayMs?: number | undefined;
  /**
   * Time that a server's process has to end by itself when it is closed, and again after SIGTERM,
   * in milliseconds. Default 2,000.
   */
  readonly closeMs?: number | undefined;
}

/** A call that needs a decision about its approval. */
export interface McpCall {
  /** The server's name, as in `servers`. */
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  /** The validated arguments. */
  readonly args: unknown;
  /** What the server says of the tool. It may be wrong: the server is not trusted. */
  readonly hints: McpToolHints;
}

/** What a server says of its tool. Nothing here follows from it. */
export interface McpToolHints {
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

/** What a hook is told besides the request. */
export interface McpRequestContext {
  /** The server that asks. */
  readonly server: string;
  /** Fires when the answer is not needed any more. */
  readonly signal: AbortSignal;
}

export interface McpOptions {
  /**
   * The servers by name, as in the `mcpServers` of other tools' files; or the whole content of such
   * a file, with its servers in `mcpServers` or in `servers`.
   */
  readonly servers:
    | McpServerEntries
    | { readonly mcpServers: McpServerEntries }
    | { readonly servers: McpServerEntries; readonly inputs?: unknown; readonly $schema?: unknown };
  /**
   * The variables that `${NAME}` is replaced from, and of which safe ones are passed to servers.
   * Default: `process.env`.
   */
  readonly env?: Environment | undefined;
  /**
   * Whether `connectMcp` waits until each server is ready or has failed. If false, it resolves at
   * once with servers that are `starting`: `onToolsChanged` and `onEvent` tell of each one later.
   * Not together with `onServerError: "throw"`. Default true.
   */
  readonly wait?: boolean | undefined;
  /** Ends the connecting. Later it has no effect: use `close()`. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /** Source of time. Default: the system's clock. */
  readonly clock?: Clock | undefined;
  /** For requests to remote servers. Default: the `fetch` of this runtime. */
  readonly fetch?: typeof fetch | undefined;
  readonly limits?: McpLimits | undefined;
  /**
   * Whether a person must approve a call before it runs, see the `needsApproval` of a tool. A
   * string is yes, with the reason to show. What a server says of its tools never decides. Default
   * true: an agent needs `beforeToolCall: requireApproval()`, or this set to false.
   */
  readonly needsApproval?:
    | boolean
    | ((call: McpCall) => boolean | string | undefined | PromiseLike<boolean | string | undefined>)
    | undefined;
  /**
   * Returns how to authorize with a remote server: a token, or an OAuth client of
   * `@modelcontextprotocol/client`. Default: none, only the entry's headers.
   */
  readonly auth?: ((server: string) => AuthProvider | OAuthClientProvider | undefined) | undefined;
  /**
   * Answers a server that asks the user something. Without it, servers are told that this is not
   * supported.
   */
  readonly elicit?:
    | ((request: ElicitRequestParams, context: McpRequestContext) => Promise<ElicitResult>)
    | undefined;
  /**
   * Answers a server that asks for a model's answer. Without it, servers are told that this is not
   * supported.
   */
  readonly sample?:
    | ((
        request: CreateMessageRequestParams,
        context: McpRequestContext,
      ) => Promise<CreateMessageResult | CreateMessageResultWithTools>)
    | undefined;
  /**
   * What a server does that does not start. `report`: the others are connected, and `mcp.servers`
   * says why. `throw`: all are closed, and `connectMcp` rejects. Default `report`.
   */
  readonly onServerError?: "report" | "throw" | undefined;
  /** Is told what happens to the servers. It must not throw. Default: none. */
  readonly onEvent?: ((event: McpEvent) => void) | undefined;
  /** How this program introduces itself to servers. Default: this package. */
  readonly clientInfo?: { readonly name: string; readonly version: string } | undefined;
}

export type FilledLimits = { readonly [K in keyof McpLimits]-?: number };

export const defaultLimits: FilledLimits = {
  startMs: 60_000,
  callMs: 600_000,
  messageBytes: 16 * 1024 * 1024,
  resultLength: 100_000,
  tools: 500,
  restarts: 5,
  restartDelayMs: 1_000,
  closeMs: 2_000,
};

/** The names of all options, for the refusal of others. */
export const optionNames: readonly string[] = Object.keys({
  servers: true,
  env: true,
  wait: true,
  signal: true,
  clock: true,
  fetch: true,
  limits: true,
  needsApproval: true,
  auth: true,
  elicit: true,
  sample: true,
  onServerError: true,
  onEvent: true,
  clientInfo: true,
} satisfies Record<keyof McpOptions, true>);
