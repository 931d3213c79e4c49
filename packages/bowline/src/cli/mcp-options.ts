/** The options of `bowline mcp` and their parser. */
import { UsageError } from "../command-error.ts";
import { parseByTable, type Option } from "./options.ts";

export const mcpOptions: readonly Option[] = [
  { name: "json", help: "print one JSON object per server" },
  { name: "help", short: "h", help: "show this help" },
];

export interface McpOptions {
  readonly json: boolean;
  readonly help: boolean;
}

/** Throws `UsageError` with one line that says what is wrong. */
export function parseMcpOptions(args: readonly string[]): McpOptions {
  const { values, positionals } = parseByTable(args, mcpOptions, "mcp");
  const [name = "list", more] = positionals;
  if (name !== "list" || more !== undefined)
    throw new UsageError(
      `bowline mcp has the command list only, not ${JSON.stringify(more ?? name)}. Servers are named in bowline.json or .mcp.json; see docs/mcp-servers.`,
    );
  return { json: values.json === true, help: values.help === true };
}
