/** The time limit of `bowline run`, and the search for its model within it. */
import type { RunOptions } from "./run-options.ts";
import { createListPatience } from "./list-patience.ts";
import { discoverModel, type Discovered, type Wanted } from "../models/discover.ts";
import { exitCode } from "./exit.ts";

/** The deadline of `--timeout`, counted from the start of the command. */
export interface Deadline {
  readonly signal: AbortSignal;
  leftMs(): number;
}

export function deadlineOf({ timeoutMs }: Pick<RunOptions, "timeoutMs">): Deadline | undefined {
  if (timeoutMs === undefined) return undefined;
  const begun = performance.now();
  return {
    signal: AbortSignal.timeout(timeoutMs),
    // In whole seconds, since the message of a run that ends there names the number.
    leftMs: () => Math.max(1, timeoutMs - Math.floor((performance.now() - begun) / 1000) * 1000),
  };
}

/** Returns the model, or an exit code if the command ended before one was found. */
export async function findModel(
  wanted: Wanted,
  retryMs: number,
  deadline: Deadline | undefined,
  host: NodeJS.Process,
): Promise<Discovered | number> {
  const patience = createListPatience(retryMs, host, deadline?.signal);
  try {
    const found = await discoverModel(wanted, host.env, patience);
    patience.found();
    return found;
  } catch (error) {
    if (patience.isStopped()) return exitCode.aborted;
    if (deadline?.signal.aborted !== true) throw error;
    patience.end();
    host.stderr.write("bowline: The server listed no models within the time of --timeout.\n");
    return exitCode.budget;
  } finally {
    patience.end();
  }
}
