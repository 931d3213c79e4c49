import { defined, type Filled } from "../json-value.ts";
import type { StreamOptions, StreamTimeouts } from "../llm/model.ts";

const DEFAULT_TIMEOUTS = { firstByteMs: 600_000, idleMs: 120_000, progressMs: 300_000, totalMs: 0 };

/** Returns all time limits. A limit given as undefined gets its default. */
export function limitsOf({ timeouts }: StreamOptions): Filled<StreamTimeouts> {
  return { ...DEFAULT_TIMEOUTS, ...defined({ ...timeouts }) };
}
