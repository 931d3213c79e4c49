/** Converts chunks of servers that deviate from Chat Completions. */
import { asRecord } from "../../json-value.ts";
import { fromOllama } from "./ollama.ts";

type Json = Record<string, unknown>;

/** The HTTP statuses of MiniMax's codes. Other codes are server errors. */
const minimaxStatus = new Map<unknown, number>([
  [1002, 429],
  [1039, 429],
  [1004, 401],
  [2049, 401],
  [1008, 402],
  [1026, 400],
  [1027, 400],
  [2013, 400],
]);

/** Returns the chunk in the form of Chat Completions. Other chunks are returned unchanged. */
export function toReference(chunk: Json): Json {
  // MiniMax always answers with HTTP 200, and reports errors in this field.
  const { status_code: code, status_msg: message } = asRecord(chunk.base_resp);
  return code ? { error: { message, code: minimaxStatus.get(code) } } : fromOllama(chunk);
}
