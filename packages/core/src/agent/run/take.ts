import { BowlineError } from "../../errors.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { InboxKind } from "../contract/effects.ts";
import type { Run } from "./run.ts";

/** Reads a queue. Returns messages to the queue that arrive after the run has stopped waiting. */
export async function take(run: Run, kind: InboxKind): Promise<readonly AgentMessage[]> {
  const { effects } = run;
  let asked: ReturnType<typeof effects.inbox> | undefined;
  try {
    return await run.hook(
      `Reading the ${kind} queue`,
      () => (asked = effects.inbox(kind, run.turns)),
      true,
    );
  } catch (error) {
    if (asked && (error as BowlineError).code === "aborted")
      run.fail(
        new BowlineError("aborted", `The run was aborted before the ${kind} queue had answered.`),
      );
    Promise.resolve(asked)
      .then((late) => late?.length && effects.giveBack?.(kind, late))
      .catch(() => {});
    throw error;
  }
}
