/** OpenAI's own tools on the Responses wire. */
import {
  checkedExecute,
  checkedOptions,
  createProviderTool,
  inSnakeCase,
  type ProviderTool,
  type ProviderToolResult,
} from "../provider-tool.ts";
import { locationField, type UserLocation } from "../user-location.ts";
import { COMPUTER } from "./computer.ts";

export interface OpenaiWebSearchOptions {
  /** Only these domains and what is below them. Default: all. */
  readonly allowedDomains?: readonly string[] | undefined;
  /** How much of the results the model reads. Default `medium`. */
  readonly searchContextSize?: "low" | "medium" | "high" | undefined;
  /** Whether pages are loaded, and not only read from the server's cache. Default true. */
  readonly externalWebAccess?: boolean | undefined;
  readonly userLocation?: UserLocation | undefined;
}

/** A condition on the attributes of files, or several of them. */
export type OpenaiFileFilter =
  | {
      readonly type: "eq" | "ne" | "gt" | "gte" | "lt" | "lte";
      readonly key: string;
      readonly value: string | number | boolean;
    }
  | {
      readonly type: "in" | "nin";
      readonly key: string;
      readonly value: readonly (string | number)[];
    }
  | { readonly type: "and" | "or"; readonly filters: readonly OpenaiFileFilter[] };

export interface OpenaiFileSearchOptions {
  readonly vectorStoreIds: readonly string[];
  /** From 1 to 50. Default: the server's. */
  readonly maxNumResults?: number | undefined;
  readonly filters?: OpenaiFileFilter | undefined;
  readonly rankingOptions?:
    | {
        readonly ranker?: "auto" | "default-2024-11-15";
        /** From 0 to 1. Results below it are left out. */
        readonly scoreThreshold?: number;
      }
    | undefined;
}

export interface OpenaiCodeInterpreterOptions {
  /** The id of a container, or what a new one has. Default: a new one. */
  readonly container?:
    | string
    | { readonly fileIds?: readonly string[]; readonly memoryLimit?: "1g" | "4g" | "16g" | "64g" }
    | undefined;
}

export interface OpenaiImageGenerationOptions {
  /** The model that draws. Default: the server's. */
  readonly model?: string | undefined;
  readonly action?: "generate" | "edit" | "auto" | undefined;
  readonly background?: "transparent" | "opaque" | "auto" | undefined;
  readonly inputFidelity?: "high" | "low" | undefined;
  readonly moderation?: "auto" | "low" | undefined;
  /** From 0 to 100. Default 100. */
  readonly outputCompression?: number | undefined;
  /** Default `png`. */
  readonly outputFormat?: "png" | "webp" | "jpeg" | undefined;
  readonly quality?: "low" | "medium" | "high" | "auto" | undefined;
  /** Such as `1024x1024`. Default `auto`. */
  readonly size?: string | undefined;
}

/** What the model does with a computer, in order. */
export interface OpenaiComputerActions {
  /** Such as `{ type: "click", button: "left", x: 10, y: 20 }`. */
  readonly actions: readonly { readonly type: string; readonly [field: string]: unknown }[];
  /** What a person should confirm first. A result that is no error confirms it. */
  readonly pendingSafetyChecks: readonly {
    readonly id: string;
    readonly code?: string | null;
    readonly message?: string | null;
  }[];
}

export interface OpenaiComputerOptions {
  /** Performs the actions. Return a screenshot as an image part. A throw fails the call. */
  readonly execute: (
    toolCallId: string,
    params: OpenaiComputerActions,
    signal?: AbortSignal,
  ) => ProviderToolResult | Promise<ProviderToolResult>;
}

const api = "openai-responses";

/** The model searches the web and cites what it found. */
export function webSearch(options: OpenaiWebSearchOptions = {}): ProviderTool<never> {
  const { allowedDomains, userLocation, ...fields } = checkedOptions("openai.webSearch", options, [
    "allowedDomains",
    "searchContextSize",
    "externalWebAccess",
    "userLocation",
  ]);
  return createProviderTool("web_search", "Searches the web.", {
    api,
    entry: {
      type: "web_search",
      ...(inSnakeCase(fields) as object),
      ...(allowedDomains !== undefined && { filters: { allowed_domains: allowedDomains } }),
      ...locationField(userLocation),
    },
  });
}

/** The model searches files that you uploaded to vector stores, and cites them. */
export function fileSearch(options: OpenaiFileSearchOptions): ProviderTool<never> {
  const { filters, ...fields } = checkedOptions("openai.fileSearch", options, [
    "vectorStoreIds",
    "maxNumResults",
    "filters",
    "rankingOptions",
  ]);
  return createProviderTool("file_search", "Searches files.", {
    api,
    entry: {
      type: "file_search",
      ...(inSnakeCase(fields) as object),
      ...(filters !== undefined && { filters }),
    },
  });
}

/** The model runs Python in a container of the vendor's. */
export function codeInterpreter(options: OpenaiCodeInterpreterOptions = {}): ProviderTool<never> {
  const { container = {} } = checkedOptions("openai.codeInterpreter", options, ["container"]);
  const isNew = typeof container !== "string";
  if (isNew)
    checkedOptions("the container of openai.codeInterpreter", container as object, [
      "fileIds",
      "memoryLimit",
    ]);
  return createProviderTool("code_interpreter", "Runs Python in a container.", {
    api,
    entry: {
      type: "code_interpreter",
      container: isNew ? { type: "auto", ...(inSnakeCase(container) as object) } : container,
    },
  });
}

/** The model draws images, which become image parts of the answer. */
export function imageGeneration(options: OpenaiImageGenerationOptions = {}): ProviderTool<never> {
  const fields = checkedOptions("openai.imageGeneration", options, [
    "model",
    "action",
    "background",
    "inputFidelity",
    "moderation",
    "outputCompression",
    "outputFormat",
    "quality",
    "size",
  ]);
  return createProviderTool("image_generation", "Draws images.", {
    api,
    entry: { type: "image_generation", ...(inSnakeCase(fields) as object) },
  });
}

/**
 * The model uses a computer that you control. Its calls are ordinary tool calls, which `execute`
 * performs.
 */
export function computer(options: OpenaiComputerOptions): ProviderTool<OpenaiComputerActions> {
  checkedOptions("openai.computer", options, ["execute"]);
  return {
    name: COMPUTER,
    description: "Uses a computer.",
    parameters: {
      type: "object",
      properties: {
        actions: { type: "array", items: { type: "object" } },
        pendingSafetyChecks: { type: "array", items: { type: "object" } },
      },
      required: ["actions"],
    },
    providerTool: { api, entry: { type: "computer" } },
    execute: checkedExecute("openai.computer", options.execute),
  };
}
