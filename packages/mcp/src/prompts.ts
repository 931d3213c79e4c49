/** Prompts of a server, as messages. */
import type { UserContent } from "@bowline/core";
import type { McpServer } from "./server/mcp-server.ts";
import { described } from "./described.ts";
import { readContent } from "./tools/read-result.ts";

/** A prompt that a server offers. */
export interface McpPrompt {
  readonly server: string;
  readonly name: string;
  /** At most 4,000 characters. */
  readonly description?: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description?: string;
    readonly required: boolean;
  }[];
}

/** A prompt with its arguments filled in. */
export interface McpPromptMessages {
  readonly description?: string;
  readonly messages: readonly {
    readonly role: "user" | "assistant";
    readonly content: UserContent[];
  }[];
}

const MAX_LISTED = 1_000;

export async function listPrompts(server: McpServer): Promise<McpPrompt[]> {
  return server.request("The list of prompts", undefined, async ({ client }, options) => {
    if (client.getServerCapabilities()?.prompts === undefined) return [];
    const { prompts } = await client.listPrompts(undefined, options);
    return prompts.slice(0, MAX_LISTED).map(({ name, description, arguments: args = [] }) => ({
      server: server.name,
      name,
      ...described(description),
      arguments: args.slice(0, 100).map((argument) => ({
        name: argument.name,
        ...described(argument.description),
        required: argument.required === true,
      })),
    }));
  });
}

export async function readPrompt(
  server: McpServer,
  name: string,
  args: Readonly<Record<string, string>>,
  length: number,
  signal: AbortSignal | undefined,
): Promise<McpPromptMessages> {
  return server.request(`The prompt "${name}"`, signal, async ({ client }, options) => {
    const params = { name, arguments: { ...args } };
    const { description, messages } = await client.getPrompt(params, options);
    return {
      ...described(description),
      messages: messages.slice(0, MAX_LISTED).map(({ role, content }) => ({
        role,
        content: readContent([content], { length, redact: server.redact }),
      })),
    };
  });
}
