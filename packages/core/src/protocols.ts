/**
 * The wire protocols of this package as data: what is known of one without loading its wire. The
 * wires in `providers/` and the agent read it; models of other protocols say it in their `compat`.
 */
import type { Dialect, Model } from "./llm/model.ts";

interface ProtocolFacts {
  /** Whether its servers hold an answer to a schema, where `compat` does not say. */
  readonly structuredOutput: NonNullable<Dialect["structuredOutput"]>;
}

/** By the name that models carry in `api`. */
const protocols: Readonly<Record<string, ProtocolFacts>> = {
  "openai-chat": { structuredOutput: "none" }, // servers differ
  "anthropic-messages": { structuredOutput: "json_schema" },
  "openai-responses": { structuredOutput: "json_schema" },
  "google-generate": { structuredOutput: "json_schema" },
};

/**
 * Whether the model's server holds an answer to `StreamOptions.output` in a request with
 * tools, or in one without.
 */
export function supportsOutput({ api, compat }: Model, withTools = true): boolean {
  const known = Object.hasOwn(protocols, api) ? protocols[api] : undefined;
  const how = compat?.structuredOutput ?? known?.structuredOutput ?? "none";
  return withTools ? how === "json_schema" : how !== "none";
}
