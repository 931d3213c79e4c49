/** A rule of the policy. */

export type PolicyAction = "allow" | "ask" | "deny";

export interface PolicyRule {
  readonly action: PolicyAction;
  /** A tool's name, `server__*` for the tools of an MCP server, or `*`. */
  readonly tool: string;
  /**
   * The calls that the rule covers. For bash: words, where `*` matches any letters and, as the last
   * word, any words (`git status *`). For tools with a `path`: a path, where `*` matches a name and
   * `**` any folders. grep and glob reach everything below their path. With the tool `*` the
   * pattern is matched against bash words and the paths among them. Absent: every call.
   */
  readonly pattern?: string;
  /** Limits the rule to one session. */
  readonly sessionKey?: string;
  /** Where the rule is written, for a person. */
  readonly source?: string;
  /** The path of the working directory below the folder that the pattern is relative to. */
  readonly base?: string;
}
