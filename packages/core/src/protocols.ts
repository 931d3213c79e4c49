/**
 * Facts about this package's wire protocols, readable without loading a protocol's code. The agent
 * and the wires in `providers/` read them. Models of other protocols give these facts in `compat`.
 */
import type { Dialect, Model } from "./llm/model.ts";

interface ProtocolFacts {
  /**
   * Whether servers of the protocol enforce an output schema. A model's `compat` takes precedence.
   */
  readonly structuredOutput: NonNullable<Dialect["structuredOutput"]>;
}

/** Keyed by `Model.api`. */
const protocols: Readonly<Record<string, ProtocolFacts>> = {
  "openai-chat": { structuredOutput: "none" }, // servers differ
  "anthropic-messages": { structuredOutput: "json_schema" },
  "openai-responses": { structuredOutput: "json_schema" },
  "google-generate": { structuredOutput: "json_schema" },
};

/**
 * Returns whether the model's server enforces `StreamOptions.output`. `withTools` says whether the
 * request has tools, because some servers enforce a schema only without tools. Default true.
 */
export function supportsOutput({ api, compat }: Model, withTools = true): boolean {
  const known = Object.hasOwn(protocols, api) ? protocols[api] : undefined;
  const how = compat?.structuredOutput ?? known?.structuredOutput ?? "none";
  return withTools ? how === "json_schema" : how !== "none";
}
