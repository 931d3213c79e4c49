/**
 * Chunks of servers that answer otherwise than Chat Completions do, as those of Chat Completions.
 */
import { asRecord } from "../../json-value.ts";
import { fromOllama } from "./ollama.ts";

type Json = Record<string, unknown>;

/** The statuses that MiniMax's codes stand for; any other is a failure of the server. */
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

/** Any other chunk is given back as it is. */
export function toReference(chunk: Json): Json {
  // MiniMax answers 200 whatever happened, and says in a field of its own what did.
  const { status_code: code, status_msg: message } = asRecord(chunk.base_resp);
  return code ? { error: { message, code: minimaxStatus.get(code) } } : fromOllama(chunk);
}
