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
   * SSE where the server refuses that.
   */
  readonly type?: "stdio" | "http" | "streamable-http" | "streamableHttp" | "sse" | undefined;
  /** Leaves the server out. Default false. */
  readonly disabled?: boolean | undefined;
  /** Takes these tools only, by the server's names. `["*"]` takes all. Default: all. */
  readonly includeTools?: readonly string[] | undefined;
  /** Leaves these tools out, by the server's names. Default: none. */
  readonly excludeTools?: readonly string[] | undefined;
}

/** Servers by the names that their tools begin with. */
export type McpServerEntries = Readonly<Record<string, McpServerEntry>>;
