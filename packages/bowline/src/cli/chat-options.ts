/** The options of a conversation and their parser. */
import type { ChatKeep, ChatOptions } from "../chat/options.ts";
import { UsageError } from "../command-error.ts";
import { defined } from "../defined.ts";
import { parseByTable, type Option } from "./options.ts";
import { runOptions } from "./run-options.ts";

const shared: ReadonlySet<string> = new Set([
  "model",
  "base-url",
  "api-key-env",
  "profile",
  "max-turns",
  "max-tokens",
  "max-cost",
  "retry-for",
]);

export const chatOptions: readonly Option[] = [
  ...runOptions.filter(({ name }) => shared.has(name)),
  {
    name: "thinking",
    value: "level",
    help: "off, minimal, low, medium, high, xhigh or max (default by the settings, else off)",
  },
  { name: "yes", short: "y", help: "run what would ask; what the permissions deny stays denied" },
  { name: "plan", help: "begin in plan mode: only reading tools run" },
  {
    name: "session",
    short: "s",
    value: "id",
    help: "go on with this session, or start one with this id",
  },
  { name: "continue", short: "c", help: "go on with the latest session of this directory" },
  { name: "resume", short: "r", help: "choose a session of this directory to go on with" },
  { name: "no-session", help: "do not save the conversation in a session" },
  { name: "plain", help: "append lines only, with numbered choices, as for screen readers" },
  { name: "help", short: "h", help: "show this help" },
];

const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export interface ParsedChat {
  readonly options: ChatOptions;
  readonly help: boolean;
}

/** Throws `UsageError` with one line that says what is wrong. */
export function parseChatOptions(args: readonly string[]): ParsedChat {
  const { given, resumeId } = withoutResumeId(args);
  const { values, positionals, text } = parseByTable(given, chatOptions, "chat");
  const level = text("thinking");
  const thinking = thinkingLevels.find((one) => one === level);
  if (level !== undefined && thinking === undefined)
    throw new UsageError(`--thinking takes one of ${thinkingLevels.join(", ")}.`);
  const number = (name: string, isWhole: boolean): number | undefined =>
    numberOf(name, text(name), isWhole);
  return {
    help: values.help === true,
    options: {
      task: positionals.join(" "),
      yes: values.yes === true,
      plan: values.plan === true,
      keep: keepOf({
        id: text("session") ?? resumeId,
        isKnown: resumeId !== undefined,
        isLatest: values.continue === true,
        isChosen: values.resume === true && resumeId === undefined,
        isNone: values["no-session"] === true,
      }),
      maxTurns: number("max-turns", true) ?? 50,
      retryMs: (number("retry-for", false) ?? 120) * 1000,
      ...defined({
        thinking,
        plain: values.plain === true ? true : undefined,
        model: text("model"),
        baseUrl: text("base-url"),
        apiKeyEnv: text("api-key-env"),
        profile: text("profile"),
        maxTokens: number("max-tokens", true),
        maxCost: number("max-cost", false),
      }),
    },
  };
}

/** `--resume <id>`: the id is optional, so it is taken only if it looks like a generated one. */
function withoutResumeId(args: readonly string[]): {
  readonly given: readonly string[];
  readonly resumeId?: string;
} {
  const at = args.findIndex((one) => one === "--resume" || one === "-r");
  const id = at === -1 ? undefined : args[at + 1];
  if (id === undefined || !/^[0-9a-f][0-9a-f-]{3,}$/.test(id)) return { given: args };
  return { given: args.toSpliced(at + 1, 1), resumeId: id };
}

function numberOf(name: string, value: string | undefined, isWhole: boolean): number | undefined {
  if (value === undefined) return undefined;
  const parsed = Number(value);
  if (Number.isFinite(parsed) && parsed > 0 && (!isWhole || Number.isInteger(parsed)))
    return parsed;
  const what = isWhole ? "whole number of at least 1" : "number above 0";
  throw new UsageError(`--${name} takes a ${what}, not ${JSON.stringify(value)}.`);
}

interface KeepGiven {
  readonly id: string | undefined;
  readonly isKnown: boolean;
  readonly isLatest: boolean;
  readonly isChosen: boolean;
  readonly isNone: boolean;
}

function keepOf({ id, isKnown, isLatest, isChosen, isNone }: KeepGiven): ChatKeep {
  const count = [id !== undefined, isLatest, isChosen, isNone].filter(Boolean).length;
  if (count > 1)
    throw new UsageError("--session, --continue, --resume and --no-session exclude each other.");
  if (id !== undefined) return { id, isKnown };
  if (isChosen) return "choose";
  return isLatest ? "latest" : isNone ? "none" : "new";
}
