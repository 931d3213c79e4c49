/** gai's agent as an immutable value. Every builder returns a new agent. */
import { type StreamOptions, getModel } from "@bowline/core";
import type { Provider } from "./provider.ts";
import type { Tool } from "./tool.ts";

export interface VendorConfig {
  readonly apiKey: string;
  readonly model?: string;
  readonly baseUrl?: string;
}

export interface Vendor {
  new: (apiKey: string, model?: string, baseUrl?: string) => VendorConfig;
  provider: (config: VendorConfig) => Provider;
}

const vendor = (name: string): Vendor => ({
  new: (apiKey, model, baseUrl) => ({
    apiKey,
    ...(model && { model }),
    ...(baseUrl && { baseUrl }),
  }),
  provider: ({ apiKey, model, ...address }) => ({
    name,
    apiKey,
    ...(model && { model: getModel(name, model, address) }),
  }),
});

export const anthropic: Vendor = vendor("anthropic");
export const openai: Vendor = vendor("openai");

interface AgentFields<Ctx> extends Readonly<Pick<StreamOptions, "maxTokens" | "temperature">> {
  readonly provider: Provider;
  /** The tool added last is first and replaces others with its name. */
  readonly tools: readonly Tool<Ctx>[];
  /** The maximum number of model calls of one run. */
  readonly maxIterations: number;
  readonly systemPrompt?: string;
}

/** `Ctx` is the context that all its tools need. */
export interface Agent<Ctx = unknown> extends Pick<AgentFields<Ctx>, "provider" | "tools"> {
  readonly fields: AgentFields<Ctx>;
  readonly withSystemPrompt: (systemPrompt: string) => Agent<Ctx>;
  readonly withTool: <More>(tool: Tool<More>) => Agent<Ctx & More>;
  readonly withTools: <More>(tools: readonly Tool<More>[]) => Agent<Ctx & More>;
  readonly withMaxTokens: (maxTokens: number) => Agent<Ctx>;
  readonly withTemperature: (temperature: number) => Agent<Ctx>;
  readonly withMaxIterations: (maxIterations: number) => Agent<Ctx>;
  readonly findTool: (name: string) => Tool<Ctx> | undefined;
}

export const Agent = {
  /** Creates an agent without prompt and tools, with at most 10 model calls. */
  new: <Ctx = unknown>(provider: Provider): Agent<Ctx> =>
    build({ provider, tools: [], maxIterations: 10 }),
};

function build<Ctx>(fields: AgentFields<Ctx>): Agent<Ctx> {
  const { provider, tools } = fields;
  const agent: Agent<Ctx> = {
    fields: Object.freeze(fields),
    provider,
    tools: Object.freeze(tools),
    withSystemPrompt: (systemPrompt) => build({ ...fields, systemPrompt }),
    withTool: <More>(tool: Tool<More>) => build<Ctx & More>({ ...fields, tools: [tool, ...tools] }),
    withTools: <More>(added: readonly Tool<More>[]) =>
      build<Ctx & More>({ ...fields, tools: [...added, ...tools] }),
    withMaxTokens: (maxTokens) => build({ ...fields, maxTokens }),
    withTemperature: (temperature) => build({ ...fields, temperature }),
    withMaxIterations: (maxIterations) => build({ ...fields, maxIterations }),
    findTool: (name) => tools.find((tool) => tool.name === name),
  };
  return Object.freeze(agent);
}
