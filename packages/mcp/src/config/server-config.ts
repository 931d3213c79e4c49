/** How one server is reached, after its entry was read. */

/** A server that runs as a child process and speaks over its standard streams. */
export interface StdioConfig {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the safe part of the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

/** A server behind a URL. */
export interface HttpConfig {
  /** `any`: streamable HTTP, or SSE if the server refuses that. */
  readonly kind: "http" | "sse" | "any";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** Which of a server's tools the entry selects. */
export interface ToolChoice {
  /** Default: all. */
  readonly only: readonly string[] | undefined;
  readonly without: readonly string[];
}

export interface ServerConfig {
  readonly name: string;
  readonly reach: StdioConfig | HttpConfig;
  readonly choice: ToolChoice;
  /**
   * Values that must not appear in a message: headers, and variables and parameters of the URL with
   * secret names.
   */
  readonly secrets: readonly string[];
}
