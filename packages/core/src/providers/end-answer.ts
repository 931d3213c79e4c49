/** How answers end, on every wire. */
import { BowlineError } from "../errors.ts";
import type { MessageWriter } from "../llm/writer.ts";
import type { ReaderFacts } from "./protocol.ts";

/**
 * Servers' words for the end of an answer that is not whole (Q061, Q165, Q207, Q208). Any other
 * with complete content is a stop.
 */
const failures = /error|abort|insufficient|malformed|call_filter/i;
const filters = /filter|safety|sensitive|block[le]|prohibited|recitation|spii/i;
const limits = /length|max_\w*tokens|context_window/i;

/**
 * Whether an answer that ends so failed or was cut, whatever other reason the server gives, too
 * (Q064).
 */
export function isDefect(reason: string): boolean {
  return failures.test(reason) || limits.test(reason);
}

/**
 * Whether a limit cut an answer. Throws `server_error` or `content_filtered` where it ended worse;
 * `said` tells that to a person.
 */
export function isCutBy(reason: string, said = `(finish reason "${reason}").`): boolean {
  if (failures.test(reason))
    throw new BowlineError("server_error", `The answer failed ${said}`, { retryable: true });
  if (filters.test(reason))
    throw new BowlineError("content_filtered", `A content filter stopped the answer ${said}`);
  return limits.test(reason);
}

/**
 * Complete calls run whatever a benign reason says (Q058, Q059, Q166, Q204); a limit of tokens may
 * have cut the last one. Throws `empty_response` for nothing at all (Q092), and `context_overflow`
 * where the server names no error, but by its own numbers the conversation did not fit (Q244).
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
  const why =
    read > contextWindow ? `with a contextWindow of ${contextWindow}` : "and none written";
  if (read > contextWindow || (isCut && isEmpty && output === 0))
    throw new BowlineError(
      "context_overflow",
      `The conversation is too long: ${read} tokens were read, ${why}.`,
    );
  if (isEmpty && !isCut)
    throw new BowlineError("empty_response", "The model answered with nothing.", {
      retryable: true,
    });
  writer.done(isCut ? "length" : callCount > 0 ? "toolUse" : "stop");
}
