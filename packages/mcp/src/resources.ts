/** Resources of a server, as content for a message. */
import type { UserContent } from "@bowline/core";
import type { McpServer } from "./server/mcp-server.ts";
import { cutText } from "./cut-text.ts";
import { described } from "./described.ts";
import { readContent } from "./tools/read-result.ts";

/** A resource that a server offers. */
export interface McpResource {
  readonly server: string;
  readonly uri: string;
  readonly name: string;
  /** At most 4,000 characters. */
  readonly description?: string;
  readonly mimeType?: string;
}

const MAX_LISTED = 1_000;

export async function listResources(server: McpServer): Promise<McpResource[]> {
  return server.request("The list of resources", undefined, async ({ client }, options) => {
    if (client.getServerCapabilities()?.resources === undefined) return [];
    const { resources } = await client.listResources(undefined, options);
    return resources.slice(0, MAX_LISTED).map(({ uri, name, title, description, mimeType }) => ({
      server: server.name,
      uri,
      name: cutText(title ?? name, 200),
      ...described(description),
      ...(mimeType && { mimeType }),
    }));
  });
}

export async function readResource(
  server: McpServer,
  uri: string,
  length: number,
  signal: AbortSignal | undefined,
): Promise<UserContent[]> {
  return server.request("The resource", signal, async ({ client }, options) => {
    const { contents } = await client.readResource({ uri }, options);
    return readContent(
      contents.map((resource) => ({ type: "resource", resource })),
      { length, redact: server.redact },
    );
  });
}
