/**
 * Reads what compatible servers add to Chat Completions: sources, images, audio, and how often they
 * searched. A separate module, so that pages without need for it do not load it.
 */
// Q250
import { asRecord, asText, list } from "../../json-value.ts";
import type { ImageContent } from "../../llm/message.ts";
import { sourceOf } from "../source.ts";
import { toolUses } from "../tool-uses.ts";
import type { ChatExtras, ChatWriter } from "./response.ts";

type Json = Record<string, unknown>;

/** The start of audio in base64, by type. */
const audioStarts: readonly (readonly [string, string])[] = [
  ["UklGR", "audio/wav"],
  ["SUQz", "audio/mpeg"],
  ["//", "audio/mpeg"],
  ["ZkxhQ", "audio/flac"],
  ["T2dnU", "audio/ogg"],
];

export class CompatibleExtras implements ChatExtras {
  readonly #writer: ChatWriter;
  readonly #annotations: unknown[] = [];
  /** The sources of the whole answer, which each chunk repeats. */
  #results: readonly unknown[] = [];
  #citations: readonly unknown[] = [];
  readonly #images = new Set<string>();
  readonly #audio: string[] = [];
  #usage: Json = {};

  constructor(writer: ChatWriter) {
    this.#writer = writer;
  }

  read(chunk: Json, delta: Json): void {
    if (chunk.search_results) this.#results = list(chunk.search_results);
    if (chunk.citations) this.#citations = list(chunk.citations);
    if (chunk.usage) this.#usage = asRecord(chunk.usage);
    this.#annotations.push(...list(delta.annotations));
    this.#show(list(delta.images));
    this.#show(list(delta.content));
    if (!delta.audio) return;
    const { data, transcript } = asRecord(delta.audio);
    this.#writer.say("text", asText(transcript));
    if (asText(data) !== "") this.#audio.push(asText(data));
  }

  finish(): void {
    const data = joinBase64(this.#audio);
    if (data !== "") {
      const [, mimeType = "audio/pcm"] = audioStarts.find(([head]) => data.startsWith(head)) ?? [];
      this.#writer.whole({ type: "file", data, mimeType });
    }
    this.#cite();
    const { server_side_tool_usage_details, server_tool_use, num_search_queries } = this.#usage;
    const uses = server_side_tool_usage_details ?? server_tool_use;
    const providerTools = toolUses(uses ?? { web_search: num_search_queries });
    const { usage } = this.#writer.message;
    if (providerTools) this.#writer.describe({ usage: { ...usage, providerTools } });
  }

  #show(parts: readonly unknown[]): void {
    for (const part of parts) {
      const { image_url: given } = asRecord(part);
      const url = asText(given) || asText(asRecord(given).url);
      const image = toImage(url);
      if (image === undefined || this.#images.has(url)) continue;
      this.#images.add(url);
      this.#writer.endSaying();
      this.#writer.whole(image);
    }
  }

  #cite(): void {
    const found = this.#writer.message.content.findLastIndex(({ type }) => type === "text");
    const textIndex = found === -1 ? undefined : found;
    const known = new Set<unknown>();
    for (const value of [...this.#annotations, ...this.#results, ...this.#citations]) {
      const wire = typeof value === "string" ? { url: value } : asRecord(value);
      const { url: place, title, content } = asRecord(wire.url_citation ?? wire);
      const source = sourceOf({ place, title, citedText: content, textIndex });
      if (source === undefined || known.has(place)) continue;
      known.add(place);
      this.#writer.whole(source);
    }
  }
}

/** Returns the image of a `data:` or web URL. */
function toImage(url: string): ImageContent | undefined {
  const [, mimeType, data] = /^data:(image\/[\w.+-]+);base64,(.+)$/s.exec(url) ?? [];
  if (mimeType !== undefined && data !== undefined) return { type: "image", data, mimeType };
  return /^https?:/i.test(url) ? { type: "image", url } : undefined;
}

/** Joins pieces that were encoded one by one. Returns "" if one of them is not base64. */
function joinBase64(pieces: readonly string[]): string {
  const isPlain = pieces.every(
    (piece, index) =>
      index === pieces.length - 1 || (piece.length % 4 === 0 && !piece.endsWith("=")),
  );
  if (isPlain) return pieces.join("");
  try {
    return btoa(pieces.map((piece) => atob(piece)).join(""));
  } catch {
    return "";
  }
}
