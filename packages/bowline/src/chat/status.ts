/** The parts of the status row, with their importance. */
import { durationText, costText, tokensText } from "./text.ts";
import type { ChatState } from "./state.ts";

/** A part of the row. Those with the lowest priority are left out first. */
export interface StatusPart {
  readonly text: string;
  readonly priority: number;
}

export function statusParts(state: ChatState, now: number): StatusPart[] {
  const { queue, isPlan, sandbox } = state;
  const parts: (StatusPart | undefined)[] = [
    isPlan ? { text: "plan", priority: 9 } : undefined,
    { text: state.model ?? "finding a model…", priority: 8 },
    { text: contextText(state), priority: 7 },
    { text: totalCost(state), priority: 6 },
    queue.length > 0 ? { text: `queue ${queue.length}`, priority: 5 } : undefined,
    timePart(state, now),
    sandbox === undefined ? undefined : { text: `sandbox ${sandbox}`, priority: 3 },
  ];
  return parts.filter((part) => part !== undefined);
}

function contextText({ contextTokens, contextWindow }: ChatState): string {
  if (contextTokens === undefined) return "context –";
  if (contextWindow === undefined) return `context ${tokensText(contextTokens)}`;
  return `context ${Math.round((contextTokens / contextWindow) * 100)}%`;
}

/** An unknown cost is never shown as 0. */
function totalCost({ cost, isCostUnknown }: ChatState): string {
  if (!isCostUnknown) return costText(cost);
  return cost === 0 ? "cost unknown" : `${costText(cost)} + unknown`;
}

function timePart({ startedAt, lastMs }: ChatState, now: number): StatusPart | undefined {
  const ms = startedAt === undefined ? lastMs : now - startedAt;
  return ms === undefined ? undefined : { text: durationText(ms), priority: 4 };
}
