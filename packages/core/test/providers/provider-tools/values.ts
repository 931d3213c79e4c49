/** Values of the vendors' own tools, each with its entry in a request. */
import { anthropic } from "../../../src/providers/anthropic-messages/index.ts";
import { google } from "../../../src/providers/google-generate/index.ts";
import { openai } from "../../../src/providers/openai-responses/index.ts";
import type { AgentTool } from "../../../src/agent/index.ts";

/** What a program answers to an action on a computer. */
export const shot = (): { content: [] } => ({ content: [] });

/** By wire. */
export const own: Readonly<Record<string, readonly [AgentTool, object][]>> = {
  "anthropic-messages": [
    [anthropic.webSearch(), { type: "web_search_20250305", name: "web_search" }],
    [
      anthropic.webSearch({
        maxUses: 3,
        allowedDomains: ["a.org"],
        userLocation: { city: "Kiel" },
      }),
      {
        type: "web_search_20250305",
        name: "web_search",
        max_uses: 3,
        allowed_domains: ["a.org"],
        user_location: { type: "approximate", city: "Kiel" },
      },
    ],
    [
      anthropic.webFetch({ maxContentTokens: 100, citations: true }),
      {
        type: "web_fetch_20250910",
        name: "web_fetch",
        max_content_tokens: 100,
        citations: { enabled: true },
      },
    ],
    [anthropic.codeExecution(), { type: "code_execution_20250825", name: "code_execution" }],
    [
      anthropic.computer({ displayWidthPx: 800, displayHeightPx: 600, execute: shot }),
      {
        type: "computer_20251124",
        name: "computer",
        display_width_px: 800,
        display_height_px: 600,
      },
    ],
  ],
  "openai-responses": [
    [openai.webSearch(), { type: "web_search" }],
    [
      openai.webSearch({ allowedDomains: ["a.org"], searchContextSize: "low" }),
      { type: "web_search", search_context_size: "low", filters: { allowed_domains: ["a.org"] } },
    ],
    [
      openai.fileSearch({
        vectorStoreIds: ["vs_1"],
        maxNumResults: 4,
        filters: { type: "eq", key: "inStock", value: true },
        rankingOptions: { scoreThreshold: 0.5 },
      }),
      {
        type: "file_search",
        vector_store_ids: ["vs_1"],
        max_num_results: 4,
        ranking_options: { score_threshold: 0.5 },
        filters: { type: "eq", key: "inStock", value: true },
      },
    ],
    [openai.codeInterpreter(), { type: "code_interpreter", container: { type: "auto" } }],
    [
      openai.codeInterpreter({ container: { fileIds: ["f"], memoryLimit: "4g" } }),
      {
        type: "code_interpreter",
        container: { type: "auto", file_ids: ["f"], memory_limit: "4g" },
      },
    ],
    [
      openai.codeInterpreter({ container: "cntr_1" }),
      { type: "code_interpreter", container: "cntr_1" },
    ],
    [
      openai.imageGeneration({ outputFormat: "webp", size: undefined }),
      { type: "image_generation", output_format: "webp" },
    ],
    [openai.computer({ execute: shot }), { type: "computer" }],
  ],
  "google-generate": [
    [google.search(), { googleSearch: {} }],
    [google.search({ excludeDomains: ["a.org"] }), { googleSearch: { excludeDomains: ["a.org"] } }],
    [google.codeExecution(), { codeExecution: {} }],
    [google.urlContext(), { urlContext: {} }],
    [
      google.fileSearch({ fileSearchStoreNames: ["fileSearchStores/a"], topK: 2 }),
      { fileSearch: { fileSearchStoreNames: ["fileSearchStores/a"], topK: 2 } },
    ],
  ],
};
