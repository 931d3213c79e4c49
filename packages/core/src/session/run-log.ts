/** The log of an agent's runs: entries go to its session until one cannot be written. */
import { isBowlineError, toBowlineError, type BowlineError, type ErrorCode } from "../errors.ts";
import type { Entry, EntryBody } from "./entry.ts";
import type { Session } from "./session.ts";

export type RunStart = Extract<EntryBody, { type: "run_start" }>;

export class RunLog {
  readonly #session: Session;
  /** Written with the first thing that the run does. */
  #start: RunStart | undefined;
  #failure: BowlineError | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Why nothing is written any more. */
  get failure(): BowlineError | undefined {
    return this.#failure;
  }

  /** The start of the run whose entries follow; undefined for one that has its start in the log. */
  begin(start: RunStart | undefined): void {
    this.#start = start;
  }

  /** Writes the start before a model is asked: such a run can be gone on with. */
  async startToContinue(): Promise<void> {
    if (this.#start === undefined) return;
    const first = { ...this.#start, continues: true } as const;
    this.#start = undefined;
    await this.add(first);
  }

  /** Remembers the first failure, and returns it. */
  fail(error: unknown, code: ErrorCode): BowlineError {
    return (this.#failure ??= toBowlineError(error, code));
  }

  /**
   * `instead` makes an entry of one that is no JSON. After a failure nothing is written: what came
   * behind would have a gap before it.
   */
  async add(
    body: EntryBody,
    instead?: (error: BowlineError) => EntryBody,
    id?: string,
  ): Promise<Entry> {
    if (this.#failure !== undefined) throw this.#failure;
    const first = this.#start;
    this.#start = undefined;
    try {
      if (first !== undefined) await this.#session.append(first);
      return await this.#session.append(body, id);
    } catch (error) {
      if (instead !== undefined && isBowlineError(error) && error.code === "invalid_argument")
        return this.add(instead(error));
      throw this.fail(error, "storage_failed");
    }
  }
}
