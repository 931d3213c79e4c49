/** The shape in which people write servers down, in this program's options or another tool's file. */

/**
 * One server, as the `mcpServers` of other tools' files have it. Texts may contain `${NAME}`,
 * `${NAME:-default}` and `${env:NAME}`.
 */
export interface McpServerEntry {
  /** The program to run. It is looked up in `PATH` and started without a shell. */
  readonly command?: string | undefined;
  /** Default: none. */
  readonly args?: readonly string[] | undefined;
  /** Variables of the program, beside the safe ones: see `docs/mcp.md`. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Working directory of the program. Default: that of this process. */
  readonly cwd?: string | undefined;
  /** Address of a remote server, `http:` or `https:`. */
  readonly url?: string | undefined;
  /** Sent with every request to `url`. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * How to speak to the server. Default: `stdio` with a `command`; with a `url` streamable HTTP, and
   * SSE where the server refuses that. Any text is taken as the type, since an imported file has no
   * closer one, but a text that is not listed here is refused when it is read.
   */
  readonly type?:
    | "stdio"
    | "http"
    | "streamable-http"
    | "streamableHttp"
    | "sse"
    | (string & {})
    | undefined;
  /** Leaves the server out. Default false. */
  readonly disabled?: boolean | undefined;
  /** Leaves the server out if false. Default true. */
  readonly enabled?: boolean | undefined;
  /** Takes these tools only, by the server's names. `["*"]` takes all. Default: all. */
  readonly includeTools?: readonly string[] | undefined;
  /** Leaves these tools out, by the server's names. Default: none. */
  readonly excludeTools?: readonly string[] | undefined;
  /** Other tools' name for `url`. */
  readonly httpUrl?: string | undefined;
  /** Other tools' name for `url`. */
  readonly serverUrl?: string | undefined;
  /** Other tools' name for `type`. */
  readonly transportType?: string | undefined;
  /** Other tools' name for `includeTools`. */
  readonly tools?: readonly string[] | undefined;
  /** Other tools' name for `excludeTools`, which may stand beside it. */
  readonly disabledTools?: readonly string[] | undefined;
  /** Other tools' time limit. It means nothing here: see `limits.callMs`. */
  readonly timeout?: unknown;
  /** Other tools' approvals. They mean nothing here: see `needsApproval`. */
  readonly autoApprove?: unknown;
  /** Means nothing here, as `autoApprove`. */
  readonly alwaysAllow?: unknown;
  /** Means nothing here, as `autoApprove`. */
  readonly trust?: unknown;
  /** For people. Means nothing here. */
  readonly description?: unknown;
}

/** Servers by the names that their tools begin with. */
export type McpServerEntries = Readonly<Record<string, McpServerEntry>>;
