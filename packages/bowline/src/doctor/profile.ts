/** Parses a profile strictly: a misspelt setting would otherwise be ignored silently. */
import { isHttp } from "../is-http.ts";
import type { Compat } from "@bowline/core";
import type { Profile } from "./finding.ts";
import { parse, record } from "./wire.ts";

/** The allowed values of a setting, the pattern of its text, or a function that checks it. */
type Allowed = readonly unknown[] | RegExp | ((setting: unknown) => boolean);

const header = /^[\w!#$%&'*+.^`|~-]+$/;
const switches: Readonly<Record<keyof Compat, Allowed>> = {
  maxTokensField: ["max_tokens", "max_completion_tokens"],
  systemRole: ["system", "developer", "user"],
  streamUsage: [true, false],
  thinkingFormat: [
    "reasoning_effort",
    "reasoning",
    "thinking",
    "enable_thinking",
    "chat_template_kwargs",
    "none",
  ],
  replayReasoning: [true, false],
  noTemperature: [true, false, "thinking"],
  keyHeader: header,
  adaptiveThinking: [true, false],
  cutsPrompt: [true, false],
  noXhigh: [true, false],
  structuredOutput: ["json_schema", "no_tools", "none"],
  noStreaming: [true, false],
  noMetadata: [true, false],
  cacheKeyField: /^\w+$/,
  cacheKeyHeader: header,
  schemaKeywords: (words) =>
    Array.isArray(words) && words.every((word) => typeof word === "string"),
  toolChoice: ["required", "auto"],
  toolsForHistory: [true, false],
  thinkTags: ["split", "open"],
  textCalls: ["hermes", "mistral", "json"],
  callIdDigits: (digits) => Number.isInteger(digits) && (digits as number) > 0,
  noNullContent: [true, false],
  toolResultName: [true, false],
  plainEfforts: [true, false],
  assistantAfterTool: [true, false],
  prefill: ["prefix", "partial", "none"],
  mergeUsers: [true, false],
};

/** Throws an `Error` whose message says what is wrong with the text. */
export function parseProfile(text: string): Profile {
  const value = record(parse(text.replace(/^\uFEFF/, ""))); // some editors write a byte order mark
  const { version, baseUrl, model, compat = {}, notes = [] } = value;
  if (version !== 1)
    throw new Error('is not a profile of "bowline doctor" (it needs "version": 1)');
  if (typeof baseUrl !== "string" || !isHttp(baseUrl))
    throw new Error('needs a "baseUrl" that is an http or https address');
  if (typeof model !== "string" || model === "") throw new Error('needs a "model"');
  if (record(compat) !== compat) throw new Error('has a "compat" that is not an object');
  for (const [name, setting] of Object.entries(compat)) {
    const allowed = Object.hasOwn(switches, name) ? switches[name as keyof Compat] : undefined;
    if (allowed === undefined)
      throw new Error(`has an unknown setting ${JSON.stringify(name)} in "compat"`);
    if (!isAllowed(setting, allowed))
      throw new Error(`has an invalid "${name}": ${JSON.stringify(setting)}`);
  }
  return {
    version,
    baseUrl,
    model,
    compat,
    notes: Array.isArray(notes) ? notes.filter((note) => typeof note === "string") : [],
  };
}

function isAllowed(setting: unknown, allowed: Allowed): boolean {
  if (typeof allowed === "function") return allowed(setting);
  return allowed instanceof RegExp
    ? typeof setting === "string" && allowed.test(setting)
    : allowed.includes(setting);
}
