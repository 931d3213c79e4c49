/** What a server may ask of this program: what a hook answers, and nothing else. */
import type { Client, ClientCapabilities } from "@modelcontextprotocol/client";
import type { McpOptions } from "../options.ts";

/** The capabilities that are declared: those with a hook. */
export function capabilitiesOf({ elicit, sample }: McpOptions): ClientCapabilities {
  return {
    ...(elicit && { elicitation: { form: { applyDefaults: true }, url: {} } }),
    ...(sample && { sampling: {} }),
  };
}

export function addHandlers(client: Client, server: string, { elicit, sample }: McpOptions): void {
  if (elicit)
    client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) =>
      elicit(params, { server, signal: mcpReq.signal }),
    );
  if (sample)
    client.setRequestHandler("sampling/createMessage", ({ params }, { mcpReq }) =>
      sample(params, { server, signal: mcpReq.signal }),
    );
}
