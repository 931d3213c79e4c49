/**
 * Tells Restate of messages and answers that PostgreSQL has. They count as accepted without it, and a
 * sweeper tells it again.
 */
import { BowlineError, type Clock } from "@bowline/core";
import type { AnsweredApproval, WaitingMessage } from "@bowline/postgres";
import type { RestateClient } from "@bowline/restate";

/** How long a client waits for Restate, in milliseconds. The request goes on without it. */
const TELL_MS = 2000;

interface Telling {
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
}

/** Resolves with whether Restate has the message. */
export function tellRestate(
  message: Omit<WaitingMessage, "position">,
  { restate, ...telling }: Telling & { readonly restate: Pick<RestateClient, "resend"> },
): Promise<boolean> {
  return told(restate.resend(message), "a message, which waits", telling);
}

/** Resolves with whether Restate has the answer, for a run that waits for it. */
export function tellAnswer(
  answered: Omit<AnsweredApproval, "position">,
  { restate, ...telling }: Telling & { readonly restate: Pick<RestateClient, "tellAnswer"> },
): Promise<boolean> {
  return told(restate.tellAnswer(answered), "an answer, which is stored", telling);
}

async function told(
  telling: Promise<void>,
  what: string,
  { clock, report }: Telling,
): Promise<boolean> {
  let stop = (): void => {};
  const late = new Promise<false>((resolve) => {
    stop = clock.setTimer(TELL_MS, () => resolve(false));
  });
  const done = telling.then(
    () => true,
    (error: unknown) => {
      report(
        new BowlineError("connection_failed", `Restate was not told of ${what}.`, {
          retryable: true,
          cause: error,
        }),
      );
      return false;
    },
  );
  try {
    return await Promise.race([done, late]);
  } finally {
    stop();
  }
}
