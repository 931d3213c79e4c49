/** Separates the media of parts from their other fields, so that a transcript holds them once. */
import { asRecord, asText } from "../../json-value.ts";
import type { FileContent, ImageContent } from "../../llm/message.ts";
import { field, type Json } from "./fields.ts";

/** Returns the image or file of a part, or undefined if it has none. */
export function mediaOf(part: Json): ImageContent | FileContent | undefined {
  const blob = asRecord(field(part, "inlineData"));
  const data = asText(blob.data);
  const mimeType = asText(field(blob, "mimeType"));
  if (data === "" || mimeType === "") return undefined;
  return { type: mimeType.startsWith("image/") ? "image" : "file", data, mimeType };
}

/** Returns the part with other data. */
export function withData(part: Json, data: string): Json {
  const name = "inlineData" in part ? "inlineData" : "inline_data";
  return { ...part, [name]: { ...asRecord(part[name]), data } };
}

/** Whether the part had its data taken away. */
export function isEmptied(part: Json): boolean {
  return asRecord(field(part, "inlineData")).data === "";
}
