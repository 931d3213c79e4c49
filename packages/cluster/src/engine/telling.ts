/** Tells Restate of messages that PostgreSQL has. A message counts as accepted without it. */
import { BowlineError, type Clock } from "@bowline/core";
import type { WaitingMessage } from "@bowline/postgres";
import type { RestateClient } from "@bowline/restate";

/** How long a client waits for Restate, in milliseconds. The request goes on without it. */
const TELL_MS = 2000;

/** Resolves with whether Restate has the message. If not, the sweeper tells it again. */
export async function tellRestate(
  message: Omit<WaitingMessage, "position">,
  {
    restate,
    clock,
    report,
  }: {
    readonly restate: Pick<RestateClient, "resend">;
    readonly clock: Clock;
    readonly report: (error: unknown) => void;
  },
): Promise<boolean> {
  let stop = (): void => {};
  const late = new Promise<false>((resolve) => {
    stop = clock.setTimer(TELL_MS, () => resolve(false));
  });
  const told = restate.resend(message).then(
    () => true,
    (error: unknown) => {
      report(
        new BowlineError("connection_failed", "Restate was not told of a message, which waits.", {
          retryable: true,
          cause: error,
        }),
      );
      return false;
    },
  );
  try {
    return await Promise.race([told, late]);
  } finally {
    stop();
  }
}
