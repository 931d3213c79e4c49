/** Converts Ollama's own chunks to Chat Completions, for a base URL without `/v1`. */
// Q024
import { asRecord, defined } from "../../json-value.ts";

type Json = Record<string, unknown>;

/** Returns the converted chunk. Other chunks are returned unchanged. */
export function fromOllama(chunk: Json): Json {
  const {
    message,
    done,
    done_reason: reason = "stop",
    prompt_eval_count: read,
    eval_count: written,
  } = chunk;
  if (typeof done !== "boolean" || chunk.choices !== undefined) return chunk;
  return {
    model: chunk.model,
    choices: [{ index: 0, delta: asRecord(message), ...(done && { finish_reason: reason }) }],
    ...(done && { usage: defined({ prompt_tokens: read, completion_tokens: written }) }),
  };
}
