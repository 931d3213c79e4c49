/** Google's own tools on the Gemini wire. */
import { checkedOptions, createProviderTool, type ProviderTool } from "../provider-tool.ts";

export interface GoogleSearchOptions {
  /** Domains to leave out. Default: none. */
  readonly excludeDomains?: readonly string[] | undefined;
  /** Only results of this time, as ISO 8601. Default: any time. */
  readonly timeRangeFilter?: { readonly startTime: string; readonly endTime: string } | undefined;
}

export interface GoogleFileSearchOptions {
  /** Such as `fileSearchStores/my-store`. */
  readonly fileSearchStoreNames: readonly string[];
  /** A condition on the metadata of files, such as `author = "Ada"`. Default: none. */
  readonly metadataFilter?: string | undefined;
  /** The most passages that the model reads. Default: the server's. */
  readonly topK?: number | undefined;
}

type NoOptions = Readonly<Record<string, never>>;

/** The model searches with Google and cites what it found. */
export function search(options: GoogleSearchOptions = {}): ProviderTool<never> {
  const fields = checkedOptions("google.search", options, ["excludeDomains", "timeRangeFilter"]);
  return own("google_search", "Searches the web.", { googleSearch: fields });
}

/** The model runs Python on Google's servers. */
export function codeExecution(options: NoOptions = {}): ProviderTool<never> {
  const fields = checkedOptions("google.codeExecution", options, []);
  return own("code_execution", "Runs Python.", { codeExecution: fields });
}

/** The model reads web pages whose addresses are in the conversation. */
export function urlContext(options: NoOptions = {}): ProviderTool<never> {
  const fields = checkedOptions("google.urlContext", options, []);
  return own("url_context", "Reads web pages.", { urlContext: fields });
}

/** The model searches files that you uploaded to file search stores, and cites them. */
export function fileSearch(options: GoogleFileSearchOptions): ProviderTool<never> {
  const fields = checkedOptions("google.fileSearch", options, [
    "fileSearchStoreNames",
    "metadataFilter",
    "topK",
  ]);
  return own("file_search", "Searches files.", { fileSearch: fields });
}

function own(
  name: string,
  description: string,
  entry: Readonly<Record<string, unknown>>,
): ProviderTool<never> {
  return createProviderTool(name, description, { api: "google-generate", entry });
}
