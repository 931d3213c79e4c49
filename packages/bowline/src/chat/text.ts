/** Short texts that several parts of the conversation show. */
import type { Usage } from "@bowline/core";

export function tokensText(count: number): string {
  if (count < 1000) return String(count);
  const thousands = count / 1000;
  return thousands < 100 ? `${thousands.toFixed(1)}k` : `${Math.round(thousands)}k`;
}

/** Formats a duration: tenths below 10 s, then seconds, then minutes. */
export function durationText(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Formats a time in the local time zone, as in 2026-11-24 09:05. */
export function timeText(ms: number): string {
  const time = new Date(ms);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join("-");
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

export function costText(cost: number): string {
  return `$${cost < 1 ? cost.toFixed(4) : cost.toFixed(2)}`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 ** 2
    ? `${(bytes / 1024).toFixed(1)} kB`
    : `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}

/** Formats the usage of a request. Unknown counts are named as unknown, never shown as 0. */
export function usageText({ input, output, cacheRead, cacheWrite, cost }: Usage): string {
  if (input === undefined && output === undefined) return "tokens unknown · cost unknown";
  const cached = [
    ...(cacheRead ? [`${tokensText(cacheRead)} cached`] : []),
    ...(cacheWrite ? [`${tokensText(cacheWrite)} written to the cache`] : []),
  ];
  const sent = input === undefined ? "? in" : `${tokensText(input)} in`;
  return [
    cached.length === 0 ? sent : `${sent} (+ ${cached.join(", ")})`,
    output === undefined ? "? out" : `${tokensText(output)} out`,
    cost === undefined ? "cost unknown" : costText(cost.total),
  ].join(" · ");
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
