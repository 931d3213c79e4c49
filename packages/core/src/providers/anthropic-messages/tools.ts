/** Anthropic's own tools. */
import {
  checkedExecute,
  checkedOptions,
  createProviderTool,
  inSnakeCase,
  type ProviderTool,
  type ProviderToolResult,
} from "../provider-tool.ts";
import { locationField, type UserLocation } from "../user-location.ts";

export interface AnthropicWebSearchOptions {
  /** The most searches of one request. Default: no limit. */
  readonly maxUses?: number | undefined;
  /** Only these domains. Not together with `blockedDomains`. Default: all. */
  readonly allowedDomains?: readonly string[] | undefined;
  /** Not these domains. Default: none. */
  readonly blockedDomains?: readonly string[] | undefined;
  readonly userLocation?: UserLocation | undefined;
}

export interface AnthropicWebFetchOptions {
  /** The most pages of one request. Default: no limit. */
  readonly maxUses?: number | undefined;
  readonly allowedDomains?: readonly string[] | undefined;
  readonly blockedDomains?: readonly string[] | undefined;
  /** Whether the answer cites the pages. Default false. */
  readonly citations?: boolean | undefined;
  /** The most tokens of a page that the model reads. Default: all. */
  readonly maxContentTokens?: number | undefined;
}

/** An action on a computer, such as `{ action: "left_click", coordinate: [10, 20] }`. */
export interface AnthropicComputerAction {
  readonly action: string;
  /** Pixels from the left and from the top. */
  readonly coordinate?: readonly [number, number];
  readonly [field: string]: unknown;
}

export interface AnthropicComputerOptions {
  /** In pixels. */
  readonly displayWidthPx: number;
  /** In pixels. */
  readonly displayHeightPx: number;
  /** The number of the display, if the machine has several. Default: none. */
  readonly displayNumber?: number | undefined;
  /** Whether the model may look at a part of the screen. Default false. */
  readonly enableZoom?: boolean | undefined;
  /** Performs an action. Return a screenshot as an image part. A throw fails the call. */
  readonly execute: (
    toolCallId: string,
    action: AnthropicComputerAction,
    signal?: AbortSignal,
  ) => ProviderToolResult | Promise<ProviderToolResult>;
}

const api = "anthropic-messages";

/** The model searches the web and cites what it found. */
export function webSearch(options: AnthropicWebSearchOptions = {}): ProviderTool<never> {
  const { userLocation, ...fields } = checkedOptions("anthropic.webSearch", options, [
    "maxUses",
    "allowedDomains",
    "blockedDomains",
    "userLocation",
  ]);
  return createProviderTool("web_search", "Searches the web.", {
    api,
    entry: {
      type: "web_search_20250305",
      name: "web_search",
      ...(inSnakeCase(fields) as object),
      ...locationField(userLocation),
    },
  });
}

/** The model reads web pages and PDF documents whose addresses are in the conversation. */
export function webFetch(options: AnthropicWebFetchOptions = {}): ProviderTool<never> {
  const { citations, ...fields } = checkedOptions("anthropic.webFetch", options, [
    "maxUses",
    "allowedDomains",
    "blockedDomains",
    "citations",
    "maxContentTokens",
  ]);
  return createProviderTool("web_fetch", "Reads web pages.", {
    api,
    entry: {
      type: "web_fetch_20250910",
      name: "web_fetch",
      ...(inSnakeCase(fields) as object),
      ...(citations !== undefined && { citations: { enabled: citations } }),
    },
  });
}

/** The model runs commands and edits files in a container of the vendor's. */
export function codeExecution(options: Readonly<Record<string, never>> = {}): ProviderTool<never> {
  checkedOptions("anthropic.codeExecution", options, []);
  return createProviderTool("code_execution", "Runs code in a container.", {
    api,
    entry: { type: "code_execution_20250825", name: "code_execution" },
  });
}

/**
 * The model uses a computer that you control. Its calls are ordinary tool calls, which `execute`
 * performs.
 */
export function computer(options: AnthropicComputerOptions): ProviderTool<AnthropicComputerAction> {
  const { execute: _, ...fields } = checkedOptions("anthropic.computer", options, [
    "displayWidthPx",
    "displayHeightPx",
    "displayNumber",
    "enableZoom",
    "execute",
  ]);
  return {
    name: "computer",
    description: "Uses a computer.",
    parameters: {
      type: "object",
      properties: { action: { type: "string" } },
      required: ["action"],
    },
    providerTool: {
      api,
      entry: { type: "computer_20251124", name: "computer", ...(inSnakeCase(fields) as object) },
      beta: "computer-use-2025-11-24",
    },
    execute: checkedExecute("anthropic.computer", options.execute),
  };
}
