/** How answers end, on every wire. */
import { BowlineError } from "../errors.ts";
import type { MessageWriter } from "../llm/writer.ts";
import type { ReaderFacts } from "./protocol.ts";

/**
 * Complete calls run whatever a benign reason says (Q058, Q059, Q166, Q204); a limit of tokens may have cut the last one. Throws
 * `empty_response` for nothing at all (Q092), and `context_overflow` where the server names no error, but by its own numbers the
 * conversation did not fit (Q244).
 */
export function endAnswer(
  writer: Pick<MessageWriter, "message" | "started" | "done">,
  { contextWindow = Infinity }: ReaderFacts,
  isCut: boolean,
  callCount: number,
): void {
  const { input = 0, cacheRead = 0, cacheWrite = 0, output } = writer.message.usage;
  const read = input + cacheRead + cacheWrite;
  const isEmpty = !writer.started;
  const why = read > contextWindow ? `with a contextWindow of ${contextWindow}` : "and none written";
  if (read > contextWindow || (isCut && isEmpty && output === 0))
    throw new BowlineError("context_overflow", `The conversation is too long: ${read} tokens were read, ${why}.`);
  if (isEmpty && !isCut)
    throw new BowlineError("empty_response", "The model answered with nothing.", { retryable: true });
  writer.done(isCut ? "length" : callCount > 0 ? "toolUse" : "stop");
}
