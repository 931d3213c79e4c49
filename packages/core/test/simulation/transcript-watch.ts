/**
 * Invariants 1 and 7 of a transcript: stored messages equal the recorded ones, in pairs, and do not
 * change afterwards.
 */
import type { AgentMessage } from "../../src/agent/index.ts";
import type { Recorded } from "./facts.ts";
import { pairingProblem } from "./order.ts";
import type { Report } from "./report.ts";

export class TranscriptWatch {
  readonly #recorded: Recorded[] = [];
  readonly #report: Report;
  #stored: readonly AgentMessage[] = [];

  constructor(report: Report) {
    this.#report = report;
  }

  /** A run begins with the remaining transcript. */
  begin({ length }: readonly AgentMessage[]): void {
    this.#recorded.length = Math.min(this.#recorded.length, length);
  }

  record(message: AgentMessage): Recorded {
    const recorded = { message, json: JSON.stringify(message) };
    this.#recorded.push(recorded);
    return recorded;
  }

  /** A run has settled. If its events were not all read, the stored messages are not compared. */
  settle(stored: readonly AgentMessage[], isWhole: boolean): void {
    this.#stored = stored;
    if (!isWhole) {
      this.#recorded.length = 0;
      for (const message of stored) this.record(message);
    }
    this.#check(false);
  }

  /** The simulation has ended. */
  end(): void {
    this.#check(true);
  }

  #check(isLast: boolean): void {
    const stored = this.#stored;
    const recorded = this.#recorded;
    const problem = pairingProblem(stored);
    if (problem !== undefined) this.#report("1 pairs", `the transcript: ${problem}`);
    if (stored.length !== recorded.length) {
      this.#report(
        "7 stored",
        `${stored.length} messages are stored, ${recorded.length} were recorded`,
      );
    }
    for (const [index, { message, json }] of recorded.entries()) {
      if (stored[index] !== message)
        return this.#report("7 stored", `message ${index} is not what was recorded`);
      if (!isLast || JSON.stringify(message) === json) continue;
      return this.#report(
        "7 stored",
        `message ${index} has changed: ${json}, now ${JSON.stringify(message)}`,
      );
    }
  }
}
