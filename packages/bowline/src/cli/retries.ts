/** Describes the retries of a model call to a person. */
import type { ErrorInfo } from "@bowline/core";
import { oneLine } from "../terminal.ts";

/** Returns the reason without a full stop. `isCutOff`: a part of the answer had arrived. */
export function retryReason(error: ErrorInfo, server: string, isCutOff: boolean): string {
  if (isCutOff) return `The answer of ${server} was cut off`;
  const { code, status = 0, message } = error;
  if (code === "connection_failed" || code === "timeout") return `No response from ${server}`;
  if (code === "overloaded") return `${server} is overloaded`;
  if (code === "rate_limited") return `${server} limits the rate`;
  if (status >= 500) return `${server} answered with HTTP ${status}`;
  return oneLine(message, 300).replace(/\.$/, "");
}

/** Counts the retries of one model call. */
export class Retries {
  #count = 0;
  #since = 0;
  #reason = "";

  get count(): number {
    return this.#count;
  }

  /** Time of the first failure. */
  get since(): number {
    return this.#since;
  }

  /** Returns true if the reason differs from the previous one. */
  add(reason: string): boolean {
    if (this.#count++ === 0) this.#since = Date.now();
    const isNew = this.#reason !== reason;
    this.#reason = reason;
    return isNew;
  }

  /** Resets the count. Returns a line for the person if there were retries. */
  end(server: string): string | undefined {
    const count = this.#count;
    this.#count = 0;
    this.#reason = "";
    if (count === 0) return undefined;
    const seconds = Math.round((Date.now() - this.#since) / 1000);
    return `${server} answered after ${count} ${count === 1 ? "retry" : "retries"} (${seconds} s)`;
  }
}
