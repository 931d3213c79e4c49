/** Token counts and cost. An unknown count is `undefined`, never 0. */
// Q097
export interface Usage {
  /** Prompt tokens that were neither read from nor written to a cache. */
  input?: number;
  /** Generated tokens, including reasoning. */
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  /** The reasoning tokens, which `output` includes. */
  reasoning?: number;
  /** input + output + cacheRead + cacheWrite, or the total that the server reported. */
  totalTokens?: number;
  /**
   * How often the vendor's own tools were used, by tool, such as `{ web_search: 2 }`. Vendors bill
   * it besides tokens. A tool that was not used is absent.
   */
  providerTools?: Record<string, number>;
  /** In US dollars. Absent when the model's prices are unknown. */
  cost?: Cost;
}

export interface Cost {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  total: number;
}

/** In US dollars per million tokens. */
export interface Prices {
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
}

/**
 * Adds up the billed usage of several calls. This is not the size of the context. A field that no
 * call reported stays absent.
 */
export function addUsage(sum: Usage, next: Usage): Usage {
  const result: Record<string, unknown> = { ...sum };
  for (const [key, value] of Object.entries(next as Record<string, unknown>)) {
    const before = result[key];
    if (typeof value === "number") result[key] = ((before as number | undefined) ?? 0) + value;
    else if (value) result[key] = addUsage(before ?? {}, value); // objects of counts
  }
  return result;
}

/**
 * Returns the cost of `usage` at `prices`, or undefined when neither input nor output tokens are
 * known.
 */
export function costOf(usage: Usage, prices: Prices): Cost | undefined {
  if (usage.input === undefined && usage.output === undefined) return undefined;
  const cost: Cost = { total: 0 };
  for (const key of ["input", "output", "cacheRead", "cacheWrite"] as const) {
    cost[key] = ((usage[key] ?? 0) * (prices[key] ?? prices.input)) / 1_000_000;
    cost.total += cost[key];
  }
  return cost;
}

/** Adds `totalTokens` if the server reported only its parts. */
export function withTotal(usage: Usage): Usage {
  return usage.input === undefined || usage.output === undefined ? usage : knownTotal(usage);
}

/** Sums the known counts, even if the call ended before all of them were reported. */
function knownTotal(usage: Usage): Usage {
  const { input, output, cacheRead, cacheWrite, totalTokens } = usage;
  if (totalTokens !== undefined || (input ?? output ?? cacheRead ?? cacheWrite) === undefined)
    return usage;
  const total = (input ?? 0) + (output ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0);
  return { ...usage, totalTokens: total };
}

/**
 * Returns the billed usage of a message, including the tries that were discarded before it.
 * `totalTokens` is set when any count is known.
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
