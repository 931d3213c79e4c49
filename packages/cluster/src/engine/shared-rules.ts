/** The rules of a worker: its own, and those that people added, which PostgreSQL has for all workers. */
import type { Clock } from "@bowline/core";
import type { DurableSessions } from "@bowline/postgres";
import type { RunRules } from "bowline/engine";
import type { PolicyRule, Rules } from "bowline/gateway";

/** How often to read the added rules before a person is asked without them. */
const TRIES = 3;
const PAUSE_MS = 500;

type Call = Parameters<RunRules["judge"]>[0];

export interface SharedRulesParts {
  readonly rules: Rules;
  readonly durable: Pick<DurableSessions, "rules">;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
}

/** Returns whether a cluster can remember what people allow. */
export function remembers(rules: Rules): boolean {
  return rules.judgeWith !== undefined;
}

/**
 * Called in a decision of a run, whose verdict is recorded: a later attempt gets the same one, whatever
 * was added since.
 */
export class SharedRules implements RunRules {
  readonly #parts: SharedRulesParts;

  constructor(parts: SharedRulesParts) {
    this.#parts = parts;
  }

  async judge(call: Call): Promise<ReturnType<Rules["judge"]>> {
    const { rules } = this.#parts;
    const own = rules.judge(call);
    // Added rules only allow, so they change nothing about a call that is allowed or denied.
    if (own.action !== "ask" || rules.judgeWith === undefined) return own;
    const added = await this.#added(call);
    return added.length === 0 ? own : rules.judgeWith(call, added);
  }

  /** Without the database there are none: a person is asked. */
  async #added({ tool, sessionKey: sessionId }: Call): Promise<readonly PolicyRule[]> {
    const { durable, clock, report } = this.#parts;
    for (let tries = 1; ; tries++)
      try {
        const stored = await durable.rules({ sessionId, tool });
        return stored.map(({ pattern }) => ({ action: "allow", tool, pattern }));
      } catch (error) {
        if (tries === TRIES) {
          report(error);
          return [];
        }
        await new Promise<void>((resolve) => void clock.setTimer(PAUSE_MS, resolve));
      }
  }
}
