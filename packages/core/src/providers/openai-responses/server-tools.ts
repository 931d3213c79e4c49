/** Reads what the server's own tools report: their progress, sources and images. */
// Q251
import { asText } from "../../json-value.ts";
import type { ProviderToolEvent } from "../../llm/event.ts";
import type { ImageContent, SourceContent } from "../../llm/message.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import { sourceOf } from "../source.ts";

type Json = Record<string, unknown>;
type Status = ProviderToolEvent["status"];

const order: readonly Status[] = ["started", "running", "completed", "failed"];
/** Items that report the use of a tool. */
const tools = /_call$|^mcp_list_tools$/;
/** Those of them that the program answers. */
const others = /^(?:custom_tool|computer|local_shell|apply_patch)_call$/;

/** Follows the server's own items. Each status is reported once, and only forwards. */
export class ServerTools {
  readonly #writer: MessageWriter;
  readonly #reached = new Map<string, Status>();

  constructor(writer: MessageWriter) {
    this.#writer = writer;
  }

  start(item: Json): void {
    this.#reach(item, "started");
  }

  /** Reads the last word of an event such as `response.web_search_call.searching`. */
  event(item: Json, word: string): void {
    if (word === "in_progress") this.#reach(item, "started");
    else if (word === "completed" || word === "failed") this.#reach(item, word);
    else this.#reach(item, "running");
  }

  stop(item: Json): void {
    this.#reach(item, /^(?:failed|incomplete)$/.test(asText(item.status)) ? "failed" : "completed");
  }

  #reach(item: Json, status: Status): void {
    const type = asText(item.type);
    const id = asText(item.id);
    if (id === "" || !tools.test(type) || others.test(type) || item.execution === "client") return;
    const reached = this.#reached.get(id);
    if (reached === "completed" || order.indexOf(status) <= order.indexOf(reached as Status))
      return;
    this.#reached.set(id, status);
    const name = type === "mcp_call" ? asText(item.name) : "";
    this.#writer.progress(id, name || type.replace(/_call$/, ""), status);
  }
}

/** Returns the source of an annotation, or undefined if it names none. */
export function toSource(annotation: Json, textIndex: number): SourceContent | undefined {
  const { url, filename, file_id: fileId, title } = annotation;
  return sourceOf({ place: url ?? filename ?? fileId, title, textIndex });
}

/**
 * Separates the image from an item that has one: the item goes back with it, and the transcript
 * holds it once.
 */
export function splitImage(item: Json): { readonly raw: Json; readonly image?: ImageContent } {
  const { type, result, output_format: format } = item;
  if (type !== "image_generation_call" || typeof result !== "string" || result === "")
    return { raw: item };
  const kind = asText(format).replace("jpg", "jpeg").replace(/^svg$/, "svg+xml") || "png";
  const image = { type: "image", data: result, mimeType: `image/${kind}` } as const;
  return { raw: { ...item, result: "" }, image };
}
