/**
 * Ends running runs that Restate does not have, as after somebody killed them or its data were lost.
 * Otherwise they would be shown as running until somebody touches their session.
 */
import type { Clock } from "@bowline/core";
import type { ListedRun, PostgresStore } from "@bowline/postgres";
import type { RestateAdmin } from "@bowline/restate";
import { endLostRun, type LostParts } from "./lost-runs.ts";

/** How old a run is before it is compared, in milliseconds. */
const AGE_MS = 15_000;
/** How often to look, in milliseconds. */
const EVERY_MS = 15_000;
/** Runs of one look. */
const PAGE = 500;

export interface LostSweepOptions extends LostParts {
  readonly store: PostgresStore;
  readonly admin: Pick<RestateAdmin, "idleSessions" | "endLostRun">;
  readonly clock: Clock;
}

export class LostSweep {
  readonly #options: LostSweepOptions;
  /** The position of the last run that was compared. Undefined: begins with the oldest. */
  #after: string | undefined;
  #lookedAt: number;

  constructor(options: LostSweepOptions) {
    this.#options = options;
    this.#lookedAt = options.clock.now();
  }

  /** Looks once, unless it has looked a short while ago. */
  async sweep(): Promise<void> {
    const { store, clock } = this.#options;
    const now = clock.now();
    if (now - this.#lookedAt < EVERY_MS) return;
    this.#lookedAt = now;
    const page = await store.durable.runningSince(now - AGE_MS, PAGE, this.#after);
    await this.#endLost(page);
    this.#after = page.length < PAGE ? undefined : page.at(-1)?.position;
  }

  /** Restate ends a run only while no other invocation of its session goes on. */
  async #endLost(page: readonly ListedRun[]): Promise<void> {
    const sessions = [...new Set(page.map(({ sessionId }) => sessionId))];
    for (const sessionKey of await this.#options.admin.idleSessions(sessions))
      await endLostRun(this.#options, sessionKey);
  }
}
