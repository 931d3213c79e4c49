import { serverLines } from "../../mcp/server-lines.ts";
import type { SlashCommand } from "./command.ts";

export const mcp: SlashCommand = {
  name: "mcp",
  help: "the MCP servers: how each one stands, and its tools",
  run(_, chat) {
    const lines = serverLines(chat.world.servers.list());
    chat.notice(
      lines.length === 0
        ? "There are no MCP servers: neither .mcp.json nor mcpServers of the settings names one."
        : ["MCP servers:", ...lines.map((line) => `  ${line}`)].join("\n"),
    );
  },
};
