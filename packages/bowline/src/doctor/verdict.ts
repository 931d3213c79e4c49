/** Turns findings into one sentence and a profile. Pure. */
import type { Compat } from "@bowline/core";
import type { DoctorResult, Finding, Profile, Verdict } from "./finding.ts";

export function judge(findings: readonly Finding[], compat: Compat): Verdict {
  const fatal = findings.find(({ blocks }) => blocks === "use");
  if (fatal !== undefined) return { kind: "unusable", text: `not usable: ${fatal.says}` };
  const noTools = findings.find(({ blocks }) => blocks === "tools");
  const settings = settingsInWords(compat);
  const rest = settings.length === 0 ? "" : `; needs ${settings.join(", ")}`;
  if (noTools !== undefined)
    return {
      kind: "no-tools",
      text: `cannot use tools: ${noTools.says}; plain questions work${rest}`,
    };
  const unseen = findings.some(({ id, mark }) => id === "tool-call" && mark === "not seen");
  const failed = findings
    .filter(({ mark }) => mark === "failed")
    .map(({ says }) => `; but ${says}`);
  const doubt = `${unseen ? "; it is unknown whether tools work, because the model called none" : ""}${failed.join("")}`;
  if (settings.length > 0)
    return { kind: "settings", text: `works with these settings: ${settings.join(", ")}${doubt}` };
  return { kind: "works", text: `works with Bowline as it is${doubt}` };
}

/** Describes each setting in words. */
function settingsInWords(compat: Compat): string[] {
  return [
    ...(compat.streamUsage === false ? ["no stream_options"] : []),
    ...(compat.systemRole === "developer" ? ["the developer role instead of system"] : []),
    ...(compat.maxTokensField === "max_completion_tokens"
      ? ["max_completion_tokens instead of max_tokens"]
      : []),
    ...(compat.keyHeader !== undefined ? [`the key in the header ${compat.keyHeader}`] : []),
    ...(compat.noTemperature === true ? ["no temperature"] : []),
    ...(compat.thinkingFormat === "none" ? ["no reasoning_effort"] : []),
    ...(compat.replayReasoning === true ? ["reasoning sent back"] : []),
  ];
}

export function toProfile(
  baseUrl: string,
  model: string,
  compat: Compat,
  findings: readonly Finding[],
): Profile {
  const notes = findings
    .filter(({ mark }) => mark === "differs" || mark === "missing" || mark === "failed")
    .map(({ says }) => says);
  return { version: 1, baseUrl, model, compat, notes };
}

/** Returns true for a server that can be used, perhaps without tools. */
export function isUsable({ verdict: { kind } }: Pick<DoctorResult, "verdict">): boolean {
  return kind === "works" || kind === "settings" || kind === "no-tools";
}
