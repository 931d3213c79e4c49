/** A profile file, read strictly: a switch that is misspelt would otherwise be a setting that does nothing. */
import type { Compat } from "@bowline/core";
import type { Profile } from "./finding.ts";
import { parse, record } from "./wire.ts";

/** The values a switch may have, or the form of its text. */
const switches: Readonly<Record<keyof Compat, readonly unknown[] | RegExp>> = {
  maxTokensField: ["max_tokens", "max_completion_tokens"],
  systemRole: ["system", "developer"],
  streamUsage: [true, false],
  thinkingFormat: ["reasoning_effort", "reasoning", "thinking", "enable_thinking", "none"],
  replayReasoning: [true, false],
  noTemperature: [true, false],
  keyHeader: /^[\w!#$%&'*+.^`|~-]+$/,
  adaptiveThinking: [true, false],
};

/** Throws an `Error` whose message says what is wrong with the text. */
export function parseProfile(text: string): Profile {
  const value = record(parse(text));
  const { version, baseUrl, model, compat = {}, notes = [] } = value;
  if (version !== 1) throw new Error('is no profile of "bowline doctor" (it needs "version": 1)');
  if (typeof baseUrl !== "string" || !isHttp(baseUrl))
    throw new Error('needs a "baseUrl" that is an http or https address');
  if (typeof model !== "string" || model === "") throw new Error('needs a "model"');
  for (const [name, setting] of Object.entries(record(compat))) {
    const allowed = Object.hasOwn(switches, name) ? switches[name as keyof Compat] : undefined;
    if (allowed === undefined) throw new Error(`has an unknown switch ${JSON.stringify(name)} in "compat"`);
    if (!isAllowed(setting, allowed)) throw new Error(`has a "${name}" that cannot be: ${JSON.stringify(setting)}`);
  }
  return {
    version,
    baseUrl,
    model,
    compat: record(compat),
    notes: Array.isArray(notes) ? notes.filter((note) => typeof note === "string") : [],
  };
}

function isAllowed(setting: unknown, allowed: readonly unknown[] | RegExp): boolean {
  return allowed instanceof RegExp ? typeof setting === "string" && allowed.test(setting) : allowed.includes(setting);
}

export function isHttp(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
}
