/** Writes entries of an agent's runs to its session, until one cannot be written. */
import { isBowlineError, toBowlineError, type BowlineError, type ErrorCode } from "../errors.ts";
import type { Entry, EntryBody } from "./entry.ts";
import type { Session } from "./session.ts";

export type RunStart = Extract<EntryBody, { type: "run_start" }>;

export class RunLog {
  readonly #session: Session;
  /** The start of the run. Written before the run's first entry. */
  #start: RunStart | undefined;
  #failure: BowlineError | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The error after which nothing more is written. */
  get failure(): BowlineError | undefined {
    return this.#failure;
  }

  /**
   * Sets the start of the run whose entries follow. Undefined if its start is in the log already.
   */
  begin(start: RunStart | undefined): void {
    this.#start = start;
  }

  /**
   * Writes the start before the first model call of a run without a prompt, so that the run can be
   * resumed.
   */
  async startToContinue(): Promise<void> {
    if (this.#start === undefined) return;
    const first = { ...this.#start, continues: true } as const;
    this.#start = undefined;
    await this.add(first);
  }

  /** Stores the first failure and returns it. */
  fail(error: unknown, code: ErrorCode): BowlineError {
    return (this.#failure ??= toBowlineError(error, code));
  }

  /**
   * Writes an entry. `instead` returns a replacement for one that is not JSON. After a failure
   * nothing more is written, because later entries would follow a gap.
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
