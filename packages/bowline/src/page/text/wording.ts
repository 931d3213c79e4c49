/** Formats numbers, times and calls for people. */
import type { Decision, RunState, TokenCounts } from "../../gateway/protocol/protocol.ts";
import { visible } from "./visible.ts";

const DAY = 24 * 60 * 60_000;

/** Returns the display name of a model: "practice model", or the reference itself. */
export function modelText(reference: string): string {
  return reference === "practice/practice" ? "practice model" : reference;
}

export function duration(ms: number): string {
  if (ms < 950) return `${Math.max(1, Math.round(ms))} ms`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Formats 1234 as 1.2k. */
function count(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  if (tokens < 999_500) return `${(tokens / 1000).toFixed(tokens < 9950 ? 1 : 0)}k`;
  return `${(tokens / 1_000_000).toFixed(1)}M`;
}

/** Formats 123456 as 123 kB. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 999_500
    ? `${Math.round(bytes / 1000)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function money(dollars: number): string {
  if (dollars === 0) return "$0";
  return dollars < 0.0001 ? "<$0.0001" : `$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`;
}

/** Lists the known fields; empty if none is known. */
export function usageText({ inputTokens, outputTokens, cost }: TokenCounts): string {
  return [
    inputTokens === undefined ? [] : [`${count(inputTokens)} in`],
    outputTokens === undefined ? [] : [`${count(outputTokens)} out`],
    cost === undefined ? [] : [money(cost)],
  ]
    .flat()
    .join(" · ");
}

/** Sums usage. A field is absent in the sum only if it is absent in all. */
export function sumUsage(all: readonly TokenCounts[]): TokenCounts {
  const sum: Partial<Record<keyof TokenCounts, number>> = {};
  for (const usage of all)
    for (const [field, value] of Object.entries(usage) as [keyof TokenCounts, number][])
      sum[field] = (sum[field] ?? 0) + value;
  return sum;
}

export function when(time: number, now: number): string {
  const date = new Date(time);
  const clock = date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  if (date.toDateString() === new Date(now).toDateString()) return clock;
  if (now - time < 6 * DAY) return date.toLocaleDateString(undefined, { weekday: "short" });
  return date.toLocaleDateString(undefined, { day: "numeric", month: "short" });
}

/** Shows a call's arguments on one line: the most informative one, or all. */
export function argumentsLine(args: unknown): string {
  if (typeof args !== "object" || args === null) return shown(args);
  const fields = args as Record<string, unknown>;
  const telling = ["command", "pattern", "query", "path", "url"].find(
    (name) => typeof fields[name] === "string",
  );
  const line =
    telling === undefined ? Object.values(fields).map(shown).join(" ") : shown(fields[telling]);
  return visible(line.replaceAll(/\s+/g, " ").trim().slice(0, 200));
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

export const stateWords: Readonly<Record<RunState, string>> = {
  queued: "Waiting",
  running: "Working",
  final: "Done",
  error: "Failed",
  aborted: "Stopped",
  interrupted: "Interrupted",
  unknown: "Unknown",
};

export const decisionWords: Readonly<Record<Decision, string>> = {
  "allow-once": "Allow once",
  "allow-session": "Allow in this session",
  "allow-always": "Always allow",
  deny: "Deny",
};

/**
 * Returns whether a call failed by itself, or was stopped or left running by an abort or a time
 * limit. Its result begins with words for the model that say so.
 */
export function howItFailed(output: string): "failed" | "stopped" | "left" {
  if (/^(?:Error: )?The (?:tool|command) was stopped after /.test(output)) return "stopped";
  return / The tool was left running after [^\n]* may still take effect\./.test(output)
    ? "left"
    : "failed";
}
