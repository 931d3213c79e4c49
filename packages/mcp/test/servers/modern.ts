// A server of the newest protocol, and of the older one, by the makers' own library: over its standard
// streams when it is started, and for the tests over HTTP.
import { McpServer, acceptedContent, inputRequired } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

export function createServer(): McpServer {
  const server = new McpServer({ name: "modern", version: "1.0.0" });
  server.registerTool(
    "echo",
    { description: "Says it again.", inputSchema: z.object({ text: z.string() }) },
    ({ text }) => ({ content: [{ type: "text", text }] }),
  );
  server.registerTool("add", { description: "Adds a tool.", inputSchema: z.object({}) }, () => {
    server.registerTool("added", { description: "New.", inputSchema: z.object({}) }, () => ({
      content: [],
    }));
    return { content: [{ type: "text", text: "added" }] };
  });
  const wanted = z.object({ sure: z.boolean() });
  server.registerTool("ask", { description: "Asks.", inputSchema: z.object({}) }, (_, context) => {
    const answer = acceptedContent(context.mcpReq.inputResponses, "sure", wanted);
    if (answer !== undefined) return { content: [{ type: "text", text: `sure: ${answer.sure}` }] };
    const question = inputRequired.elicit({ message: "Sure?", requestedSchema: wanted });
    return inputRequired({ inputRequests: { sure: question } });
  });
  return server;
}

if (process.argv[1] === import.meta.filename) serveStdio(createServer);
