/** Reads what Google's own tools report: their progress, and the sources of an answer. */
// Q252
import { asRecord, asText, isRecord, list } from "../../json-value.ts";
import type { SourceContent } from "../../llm/message.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import { sourceOf } from "../source.ts";
import { field, type Json } from "./fields.ts";

export class ServerTools {
  readonly #writer: MessageWriter;
  /** How often each tool was used. A use without an id is named by its number. */
  readonly #uses = new Map<string, number>();
  #code = "";
  #grounding: Json = {};
  #pages: Json = {};
  #citations: Json = {};

  constructor(writer: MessageWriter) {
    this.#writer = writer;
  }

  /** Reads the progress that a part reports. */
  part(part: Json): void {
    const code = field(part, "executableCode");
    const result = field(part, "codeExecutionResult");
    const call = field(part, "toolCall");
    const response = field(part, "toolResponse");
    if (isRecord(code)) this.#code = this.#start("code_execution", code.id);
    if (isRecord(result)) {
      const isFailed = /(?:failed|deadline_exceeded)$/i.test(asText(result.outcome));
      const id = asText(result.id) || this.#code || this.#start("code_execution", undefined);
      this.#writer.progress(id, "code_execution", isFailed ? "failed" : "completed");
    }
    if (isRecord(call)) this.#start(toolOf(call), call.id);
    if (isRecord(response)) {
      const tool = toolOf(response);
      this.#writer.progress(asText(response.id) || this.#last(tool), tool, "completed");
    }
  }

  /** Notes the sources of a candidate. Later chunks repeat and complete earlier ones. */
  note(candidate: Json): void {
    const grounding = field(candidate, "groundingMetadata");
    const pages = field(candidate, "urlContextMetadata");
    const citations = field(candidate, "citationMetadata");
    if (isRecord(grounding)) this.#grounding = { ...this.#grounding, ...grounding };
    if (isRecord(pages)) this.#pages = { ...this.#pages, ...pages };
    if (isRecord(citations)) this.#citations = { ...this.#citations, ...citations };
  }

  /** How often the tools were used, as far as it is billed. */
  get uses(): Record<string, number> | undefined {
    const { length } = list(field(this.#grounding, "webSearchQueries"));
    return length > 0 ? { google_search: length } : undefined;
  }

  /** Writes the sources after the answer, in the order of the text that they support. */
  finish(): void {
    const { content } = this.#writer.message;
    const textIndex = content.findLastIndex(({ type }) => type === "text");
    const about = textIndex === -1 ? {} : { textIndex };
    if (this.uses !== undefined && !this.#uses.has("google_search_web"))
      this.#whole("google_search");
    const pages = list(field(this.#pages, "urlMetadata")).map(asRecord);
    if (pages.length > 0 && !this.#uses.has("url_context")) this.#whole("url_context");
    for (const source of this.#sources(pages)) this.#writer.whole({ ...source, ...about });
  }

  #sources(pages: readonly Json[]): SourceContent[] {
    const chunks = list(field(this.#grounding, "groundingChunks")).map(toSource);
    const supports = list(field(this.#grounding, "groundingSupports"))
      .map(asRecord)
      .toSorted((a, b) => startOf(a) - startOf(b));
    const found: SourceContent[] = [];
    const cited = new Set<unknown>();
    for (const support of supports) {
      const text = asText(asRecord(support.segment).text);
      for (const index of list(field(support, "groundingChunkIndices"))) {
        const source = chunks[index as number];
        if (source) found.push(text === "" ? source : { ...source, supportedText: text });
        cited.add(source);
      }
    }
    for (const source of chunks) if (source && !cited.has(source)) found.push(source);
    const known = new Set(found.map(({ url }) => url));
    const rest = [
      ...pages
        .filter((page) => /success$/i.test(asText(field(page, "urlRetrievalStatus"))))
        .map((page) => ({ uri: field(page, "retrievedUrl") })),
      ...list(this.#citations.citations ?? field(this.#citations, "citationSources")),
    ];
    for (const place of rest) {
      const source = fromPlace(asRecord(place));
      if (source?.url === undefined || known.has(source.url)) continue;
      known.add(source.url);
      found.push(source);
    }
    return found;
  }

  #start(tool: string, given: unknown): string {
    this.#uses.set(tool, (this.#uses.get(tool) ?? 0) + 1);
    const id = asText(given) || this.#last(tool);
    this.#writer.progress(id, tool, "started");
    return id;
  }

  #whole(tool: string): void {
    this.#writer.progress(this.#start(tool, undefined), tool, "completed");
  }

  #last(tool: string): string {
    return `${tool}_${this.#uses.get(tool) ?? 0}`;
  }
}

function toolOf(wire: Json): string {
  return asText(field(wire, "toolType")).toLowerCase() || "tool";
}

function startOf({ segment }: Json): number {
  return Number(field(asRecord(segment), "startIndex") ?? 0);
}

/** Returns the source of a grounding chunk: of the web, a map or a file. */
function toSource(chunk: unknown): SourceContent | undefined {
  const { web, maps } = asRecord(chunk);
  const context = field(asRecord(chunk), "retrievedContext");
  return fromPlace(asRecord(web ?? maps ?? context));
}

function fromPlace(place: Json): SourceContent | undefined {
  const { uri, title, text: citedText } = place;
  return sourceOf({ place: uri ?? field(place, "documentName"), title, citedText });
}
