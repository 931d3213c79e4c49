/** What is still open, read from the database, from Restate and from a gateway. */
import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresStore } from "@bowline/postgres";
import type { Restate } from "../../kit/restate.ts";
import { Refusal, type DrillClient } from "../clients/drill-client.ts";
import type { Leftovers } from "../evidence.ts";

export interface Readers {
  readonly store: PostgresStore;
  readonly restate: Restate;
  readonly client: DrillClient;
  readonly sessions: readonly string[];
}

const PAUSE_MS = 500;
const MOST = 1000;

/** Reads until nothing is left, and at last after `limitMs`. */
export async function whenNothingIsLeft(readers: Readers, limitMs: number): Promise<Leftovers> {
  const end = performance.now() + limitMs;
  for (;;) {
    const left = await readLeftovers(readers);
    const count = Object.values(left).reduce((sum, list) => sum + list.length, 0);
    if (count === 0 || performance.now() > end) return left;
    await sleep(PAUSE_MS);
  }
}

async function readLeftovers({ store, restate, client, sessions }: Readers): Promise<Leftovers> {
  const failures: string[] = [];
  const attempt = async <T>(
    what: string,
    work: () => Promise<readonly T[]>,
  ): Promise<readonly T[]> => {
    try {
      return await work();
    } catch (error) {
      failures.push(`${what}: ${String(error)}`);
      return [];
    }
  };
  const { durable } = store;
  const [openRuns, waiting, approvals, invocations, listed, histories] = await Promise.all([
    attempt("open runs", () => durable.openRuns({ limit: MOST })),
    attempt("the inbox", () => durable.waitingSince(Number.MAX_SAFE_INTEGER, MOST)),
    attempt("open approvals", () => durable.openApprovals({ limit: MOST })),
    attempt("invocations", () =>
      restate.query(
        `select target_service_key, target_handler_name, status, retry_count, last_failure
          from sys_invocation where status <> 'completed'`,
      ),
    ),
    attempt("approvals.list", async () => (await client.request("approvals.list", {})).approvals),
    attempt("chat.history", () => waitingIn(client, sessions)),
  ]);
  return {
    openRuns: openRuns.map(({ sessionId: session, runId }) => ({ session, runId })),
    waiting: [...waiting.map(({ sessionId: session, id }) => ({ session, id })), ...histories],
    approvals: [
      ...approvals.map(({ sessionId: session, approvalId }) => ({ session, approvalId })),
      ...listed.map(({ sessionKey: session, approvalId }) => ({ session, approvalId })),
    ],
    invocations: invocations.map(({ target_service_key: session, ...rest }) => ({
      session: String(session),
      text: JSON.stringify(rest),
    })),
    failures,
  };
}

/** What a gateway says is waiting. */
async function waitingIn(
  client: DrillClient,
  sessions: readonly string[],
): Promise<{ session: string; id: string }[]> {
  const found: { session: string; id: string }[] = [];
  for (const session of sessions) {
    try {
      const { waiting } = await client.request("chat.history", { sessionKey: session, limit: 1 });
      found.push(...waiting.map(({ messageId: id }) => ({ session, id })));
    } catch (error) {
      // No message came to the session.
      if (!(error instanceof Refusal) || error.code !== "not_found") throw error;
    }
  }
  return found;
}
