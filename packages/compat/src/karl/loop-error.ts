/** What karl's loop throws when a run fails. */
import { BowlineError, type ErrorInfo } from "@bowline/core";
import type { Message } from "./message.ts";

/** Its `name` is `AbortError` after an abort, as that of a `fetch`. */
export class AgentLoopError extends BowlineError {
  override readonly name: string;
  /** The last answer that has text, else the last one. Absent when the run has none. */
  declare readonly answer?: Message;

  constructor({ code, message, ...options }: ErrorInfo, answer?: Message) {
    super(code, message, options);
    this.name = code === "aborted" ? "AbortError" : "BowlineError";
    if (answer) this.answer = answer;
  }
}

/** The last answer that has text, else the last one. */
export function bestAnswer(answers: readonly Message[]): Message | undefined {
  return answers.findLast(({ content }) => content !== "") ?? answers.at(-1);
}
