/** The error of a failed run. */
import { BowlineError, type ErrorInfo } from "@bowline/core";
import type { Message } from "./message.ts";

/** The error of a failed run. Its `name` is `AbortError` after an abort, like that of `fetch`. */
export class AgentLoopError extends BowlineError {
  override readonly name: string;
  /** The last answer with text, or else the last answer. Absent if the run has none. */
  declare readonly answer?: Message;

  constructor({ code, message, ...options }: ErrorInfo, answer?: Message) {
    super(code, message, options);
    this.name = code === "aborted" ? "AbortError" : "BowlineError";
    if (answer) this.answer = answer;
  }
}

/** Returns the last answer with text, or else the last answer. */
export function bestAnswer(answers: readonly Message[]): Message | undefined {
  return answers.findLast(({ content }) => content !== "") ?? answers.at(-1);
}
