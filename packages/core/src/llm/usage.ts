/** Token counts and money. Unknown is `undefined`, never 0. */
// Q097
export interface Usage {
  /** Prompt tokens that were neither read from nor written to a cache. */
  input?: number;
  /** Generated tokens, reasoning included. */
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  /** The part of `output` that was reasoning. */
  reasoning?: number;
  /** input + output + cacheRead + cacheWrite, or what the server gave. */
  totalTokens?: number;
  /** US dollars; absent without known prices. */
  cost?: Cost;
}

export interface Cost {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  total: number;
}

/** US dollars for a million tokens. */
export interface Prices {
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
}

/**
 * The sum of several calls' usage (what is billed, not what the context holds). A field nobody
 * reported stays absent.
 */
export function addUsage(sum: Usage, next: Usage): Usage {
  const result: Record<string, unknown> = { ...sum };
  for (const [key, value] of Object.entries(next as Record<string, unknown>)) {
    const before = result[key];
    if (typeof value === "number") result[key] = ((before as number | undefined) ?? 0) + value;
    else if (value) result[key] = addUsage(before ?? {}, value); // the cost
  }
  return result;
}

/** What `usage` cost at `prices`, or undefined when no token count is known. */
export function costOf(usage: Usage, prices: Prices): Cost | undefined {
  if (usage.input === undefined && usage.output === undefined) return undefined;
  const cost: Cost = { total: 0 };
  for (const key of ["input", "output", "cacheRead", "cacheWrite"] as const) {
    cost[key] = ((usage[key] ?? 0) * (prices[key] ?? prices.input)) / 1_000_000;
    cost.total += cost[key];
  }
  return cost;
}

/** Fills in `totalTokens` when the server gave the parts only. */
export function withTotal(usage: Usage): Usage {
  return usage.input === undefined || usage.output === undefined ? usage : knownTotal(usage);
}

/** What is known counts, also where a call ended before all of it was reported. */
function knownTotal(usage: Usage): Usage {
  const { input, output, cacheRead, cacheWrite, totalTokens } = usage;
  if (totalTokens !== undefined || (input ?? output ?? cacheRead ?? cacheWrite) === undefined)
    return usage;
  const total = (input ?? 0) + (output ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0);
  return { ...usage, totalTokens: total };
}

/**
 * Returns the billed usage of a message: its own, and that of discarded tries before it. Has
 * `totalTokens` when any count is known.
 */
export function billedUsage({
  usage,
  discardedUsage,
}: {
  readonly usage: Usage;
  readonly discardedUsage?: Usage;
}): Usage {
  return addUsage(knownTotal({ ...usage }), knownTotal({ ...discardedUsage }));
}
