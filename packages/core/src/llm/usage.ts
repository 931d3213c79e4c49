/** Token counts and money. Unknown is `undefined`, never 0 (Q097). */
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

/** The sum of several calls' usage (what is billed, not what the context holds). A field nobody reported stays absent. */
export function addUsage(sum: Usage, next: Usage): Usage {
  const { cost: a, ...counts } = sum;
  const { cost: b, ...more } = next;
  const cost = a && b ? addFields(a, b) : (a ?? b);
  return { ...addFields(counts, more), ...(cost && { cost }) };
}

function addFields<T extends object>(a: T, b: T): T {
  const result = { ...a } as Record<string, number>;
  for (const [key, value] of Object.entries(b)) result[key] = (result[key] ?? 0) + (value as number);
  return result as T;
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
  if (usage.totalTokens !== undefined) return usage;
  if (usage.input === undefined || usage.output === undefined) return usage;
  return { ...usage, totalTokens: usage.input + usage.output + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) };
}
