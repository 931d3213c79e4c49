/** gai's agent: what is to be run, as a value. Every builder gives a new one. */
import type { Model, StreamFn } from "../../llm/model.ts";
import { getModel } from "../../providers/vendors.ts";
import type { Tool } from "./tool.ts";

export interface Provider {
  readonly name: string;
  /** Without one a run fails with `missing_model`. */
  readonly model?: Model;
  readonly apiKey?: string;
  /** Default: the wire that the model names. */
  readonly streamFn?: StreamFn;
}

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
  new: (apiKey, model, baseUrl) => ({ apiKey, ...(model && { model }), ...(baseUrl && { baseUrl }) }),
  provider: ({ apiKey, model, ...address }) => ({
    name,
    apiKey,
    ...(model && { model: getModel(name, model, address) }),
  }),
});

export const anthropic: Vendor = vendor("anthropic");
export const openai: Vendor = vendor("openai");

interface AgentFields<Ctx> {
  readonly provider: Provider;
  /** What was added last comes first, and wins over others of its name. */
  readonly tools: readonly Tool<Ctx>[];
  /** Model calls of one run. */
  readonly maxIterations: number;
  readonly systemPrompt?: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
}

export class Agent<Ctx = unknown> {
  readonly fields: AgentFields<Ctx>;

  private constructor(fields: AgentFields<Ctx>) {
    this.fields = Object.freeze(fields);
  }

  /** Without prompt and tools; at most 10 model calls. */
  static new<Ctx = unknown>(provider: Provider): Agent<Ctx> {
    return new Agent({ provider, tools: [], maxIterations: 10 });
  }

  withSystemPrompt(systemPrompt: string): Agent<Ctx> {
    return new Agent({ ...this.fields, systemPrompt });
  }
  withTool(tool: Tool<Ctx>): Agent<Ctx> {
    return this.withTools([tool]);
  }
  withTools(tools: readonly Tool<Ctx>[]): Agent<Ctx> {
    return new Agent({ ...this.fields, tools: [...tools, ...this.tools] });
  }
  withMaxTokens(maxTokens: number): Agent<Ctx> {
    return new Agent({ ...this.fields, maxTokens });
  }
  withTemperature(temperature: number): Agent<Ctx> {
    return new Agent({ ...this.fields, temperature });
  }
  withMaxIterations(maxIterations: number): Agent<Ctx> {
    return new Agent({ ...this.fields, maxIterations });
  }

  get provider(): Provider {
    return this.fields.provider;
  }
  get tools(): readonly Tool<Ctx>[] {
    return this.fields.tools;
  }
  findTool(name: string): Tool<Ctx> | undefined {
    return this.tools.find((tool) => tool.name === name);
  }
}
