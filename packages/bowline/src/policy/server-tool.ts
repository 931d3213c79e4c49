/** The names of MCP servers' tools: `server__tool`. */

/** Returns true for the name of a server's tool. Tools of this program have no `__` in their names. */
export function isServerTool(tool: string): boolean {
  return tool.slice(1).includes("__");
}

/** Returns `server__*`, which covers all tools of the tool's server. */
export function wholeServer(tool: string): string {
  return `${tool.slice(0, tool.indexOf("__", 1))}__*`;
}

/** Returns true if a name in a rule or a list covers a tool: the same, or `server__*`, or `*`. */
export function coversTool(name: string, tool: string): boolean {
  if (name === "*" || name === tool) return true;
  return name.endsWith("__*") && isServerTool(tool) && tool.startsWith(name.slice(0, -1));
}
