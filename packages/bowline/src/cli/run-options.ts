/** The options of `bowline run` and their parser. */
import { UsageError } from "../command-error.ts";
import { defined } from "../defined.ts";
import { thinkingLevels, type ThinkingSetting } from "../settings/keys.ts";
import { didYouMean } from "../settings/nearest-name.ts";
import { printable } from "../terminal.ts";
import { parseByTable, type Option } from "./options.ts";

export const runOptions: readonly Option[] = [
  {
    name: "model",
    short: "m",
    value: "provider/model",
    help: "the model to ask; also BOWLINE_MODEL",
  },
  {
    name: "base-url",
    value: "url",
    help: "address of the model server; a model without a known provider is then an id of that server",
  },
  { name: "api-key-env", value: "name", help: "the environment variable that holds the key" },
  {
    name: "profile",
    value: "file",
    help: "read server, model and settings from a profile that bowline doctor wrote",
  },
  {
    name: "thinking",
    value: "level",
    help: "off, minimal, low, medium, high, xhigh or max (default off)",
  },
  {
    name: "image",
    value: "file",
    repeated: true,
    help: "show the model an image; may be given again",
  },
  {
    name: "file",
    value: "file",
    repeated: true,
    help: "send the model a PDF, text, MP3, WAV or MP4; may be given again",
  },
  { name: "yes", short: "y", help: "allow write, edit and bash without asking" },
  {
    name: "tools",
    value: "names",
    repeated: true,
    help: "give the model only these tools, with commas between them",
  },
  {
    name: "exclude-tools",
    value: "names",
    repeated: true,
    help: "do not give the model these tools",
  },
  { name: "system", value: "text", help: "replace the beginning of the system prompt" },
  { name: "append-system", value: "text", help: "add a text to the end of the system prompt" },
  {
    name: "trust",
    help: "trust this folder: its settings, servers, hooks, skills and agents take effect, now and later",
  },
  { name: "print", short: "p", help: 'do the task and exit; bowline -p "<task>" is bowline run' },
  {
    name: "output-format",
    value: "format",
    help: "text, json (one object at the end) or stream-json (the event log)",
  },
  { name: "json", help: "the same as --output-format stream-json" },
  { name: "quiet", short: "q", help: "print only the answer and errors" },
  {
    name: "session",
    short: "s",
    value: "id",
    help: "continue this session, or start one with this id",
  },
  {
    name: "resume",
    short: "r",
    value: "[id]",
    help: "continue this session, or without an id the latest of this directory",
  },
  { name: "continue", short: "c", help: "continue the latest session of this directory" },
  { name: "no-session", help: "do not save the run in a session" },
  { name: "record", value: "file", help: "record the whole run, without keys, for bowline replay" },
  { name: "max-turns", value: "n", help: "stop after n model calls (default 50)" },
  { name: "max-tokens", value: "n", help: "stop when the run has used n tokens" },
  {
    name: "max-cost",
    value: "dollars",
    help: "stop when the run has cost this much, where prices are known",
  },
  { name: "timeout", value: "seconds", help: "stop after this long, counted from the start" },
  {
    name: "retry-for",
    value: "seconds",
    help: "how long to retry when the model server fails (default 120)",
  },
  { name: "help", short: "h", help: "show this help" },
];

const outputFormats = ["text", "json", "stream-json"] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** The session in which a run is saved. */
export type Keep =
  | "new"
  | "latest"
  | "none"
  | {
      readonly id: string;
      /** Whether an unknown id starts a session of that name. */
      readonly canBeNew: boolean;
    };

export interface RunOptions {
  readonly task: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  readonly profile?: string;
  /** Default: that of the settings, else off. */
  readonly thinking?: ThinkingSetting;
  readonly images: readonly string[];
  readonly files: readonly string[];
  readonly yes: boolean;
  readonly tools: readonly string[];
  readonly excludeTools: readonly string[];
  readonly system?: string;
  readonly appendSystem?: string;
  readonly isTrusted: boolean;
  readonly output: OutputFormat;
  readonly isQuiet: boolean;
  readonly keep: Keep;
  readonly record?: string;
  readonly help: boolean;
  readonly maxTurns: number;
  readonly retryMs: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly timeoutMs?: number;
}

/**
 * Parses the arguments of `bowline run`. Throws `UsageError` with one line that says what is wrong.
 */
export function parseRunOptions(args: readonly string[]): RunOptions {
  const { values, positionals, text } = parseByTable(withResumeId(args), runOptions, "run");
  const number = (name: string, whole: boolean): number | undefined => {
    const value = text(name);
    if (value === undefined) return undefined;
    const parsed = Number(value);
    if (!Number.isFinite(parsed) || parsed <= 0 || (whole && !Number.isInteger(parsed))) {
      throw new UsageError(
        `--${name} takes a ${whole ? "whole number of at least 1" : "number above 0"}, not ${JSON.stringify(value)}.`,
      );
    }
    return parsed;
  };
  const thinking = choice("thinking", text("thinking"), thinkingLevels);
  const seconds = number("timeout", false);
  return {
    task: positionals.join(" "),
    images: Array.isArray(values.image) ? values.image.map(String) : [],
    files: Array.isArray(values.file) ? values.file.map(String) : [],
    yes: values.yes === true,
    tools: namesOf(values.tools),
    excludeTools: namesOf(values["exclude-tools"]),
    isTrusted: values.trust === true,
    output: outputOf(choice("output-format", text("output-format"), outputFormats), values),
    isQuiet: values.quiet === true,
    keep: keepOf(text("session"), text("resume"), values),
    help: values.help === true,
    maxTurns: number("max-turns", true) ?? 50,
    retryMs: (number("retry-for", false) ?? 120) * 1000,
    ...defined({
      thinking,
      system: text("system"),
      appendSystem: text("append-system"),
      model: text("model"),
      baseUrl: text("base-url"),
      apiKeyEnv: text("api-key-env"),
      profile: text("profile"),
      record: text("record"),
      maxTokens: number("max-tokens", true),
      maxCost: number("max-cost", false),
      timeoutMs: seconds === undefined ? undefined : seconds * 1000,
    }),
  };
}

/** Returns the value if it is one of a list. Throws `UsageError` for another one. */
function choice<T extends string>(
  name: string,
  given: string | undefined,
  values: readonly T[],
): T | undefined {
  const found = values.find((value) => value === given);
  if (given === undefined || found !== undefined) return found;
  throw new UsageError(`--${name} takes one of ${values.join(", ")}.${didYouMean(given, values)}`);
}

function outputOf(
  format: OutputFormat | undefined,
  { json }: Readonly<Record<string, unknown>>,
): OutputFormat {
  if (json !== true) return format ?? "text";
  if (format !== undefined && format !== "stream-json")
    throw new UsageError("--json is --output-format stream-json. Pass one of the two.");
  return "stream-json";
}

function namesOf(given: unknown): readonly string[] {
  const lists = Array.isArray(given) ? given.map(String) : [];
  return lists
    .flatMap((list) => list.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

const LATEST = "latest";

/**
 * Gives `--resume` a value if it has none. The next word is its id unless it is an option or has
 * spaces, as a task has.
 */
function withResumeId(args: readonly string[]): string[] {
  const end = args.indexOf("--");
  return args.flatMap((arg, at) => {
    if ((arg !== "--resume" && arg !== "-r") || (end !== -1 && at > end)) return [arg];
    const next = args[at + 1];
    const isId = next !== undefined && !next.startsWith("-") && !/\s/.test(next) && next !== "";
    return isId ? [arg] : [`--resume=${LATEST}`];
  });
}

function keepOf(
  session: string | undefined,
  resume: string | undefined,
  values: Readonly<Record<string, unknown>>,
): Keep {
  const [isLatest, isNone] = [values.continue === true, values["no-session"] === true];
  const asked = [session !== undefined, resume !== undefined, isLatest, isNone];
  if (asked.filter(Boolean).length > 1)
    throw new UsageError("--session, --resume, --continue and --no-session exclude each other.");
  const id = session ?? resume;
  if (id !== undefined && printable(id) !== id)
    throw new UsageError(
      `--${session === undefined ? "resume" : "session"} takes an id without control characters.`,
    );
  if (resume === LATEST || isLatest) return "latest";
  if (id !== undefined) return { id, canBeNew: session !== undefined };
  return isNone ? "none" : "new";
}
