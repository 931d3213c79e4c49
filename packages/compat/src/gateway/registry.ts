/** A table of providers by name. */
import { AnthropicProvider, OpenAIProvider, type ProviderOptions } from "./provider.ts";
import type { ModelProvider } from "./types.ts";

export interface Config {
  /** Default: the process's environment; empty in a browser. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly options?: ProviderOptions;
}

/** Creates each provider whose key is set, by its id. */
export function createProviderRegistry({ env = environment(), options = {} }: Config = {}): Map<
  string,
  ModelProvider
> {
  const { ANTHROPIC_API_KEY: anthropic = "", OPENAI_API_KEY: openai = "" } = env;
  const providers: ModelProvider[] = [];
  if (anthropic.trim() !== "") providers.push(new AnthropicProvider(anthropic, options));
  if (openai.trim() !== "") providers.push(new OpenAIProvider(openai, options));
  return new Map(providers.map((provider) => [provider.id, provider]));
}

function environment(): Readonly<Record<string, string | undefined>> {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env ?? {};
}
