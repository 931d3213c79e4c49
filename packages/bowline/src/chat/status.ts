/** The parts of the status row, with their importance. */
import { durationText, costText, tokensText } from "./text.ts";
import type { StatusPart } from "../screen/status-row.ts";
import type { ChatState } from "./state.ts";

export function statusParts(state: ChatState, now: number): StatusPart[] {
  const { queue, isPlan, sandbox } = state;
  const parts: (StatusPart | undefined)[] = [
    isPlan ? { text: "plan", priority: 9 } : undefined,
    { text: state.model ?? "finding a model…", short: shortModel(state), priority: 8 },
    { text: contextText(state), short: contextText(state, "ctx"), priority: 7 },
    { text: totalCost(state), priority: 6 },
    queue.length > 0 ? { text: `queue ${queue.length}`, priority: 5 } : undefined,
    timePart(state, now),
    sandbox === undefined ? undefined : { text: `sandbox ${sandbox}`, priority: 3 },
  ];
  return parts.filter((part) => part !== undefined);
}

/** Leaves out the vendor. */
function shortModel({ model = "finding…" }: ChatState): string {
  return model.slice(model.indexOf("/") + 1);
}

function contextText({ contextTokens, contextWindow }: ChatState, name = "context"): string {
  if (contextTokens === undefined) return `${name} –`;
  if (contextWindow === undefined) return `${name} ${tokensText(contextTokens)}`;
  return `${name} ${Math.round((contextTokens / contextWindow) * 100)}%`;
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
