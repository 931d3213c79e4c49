/** Command line options as tables, from which parsing, help and docs/cli.md are made. */
import { parseArgs } from "node:util";
import { defined } from "../defined.ts";
import { UsageError } from "../command-error.ts";
import { printable } from "../terminal.ts";

export interface Option {
  readonly name: string;
  readonly short?: string;
  /** Placeholder of the value in help; absent for a switch. */
  readonly value?: string;
  readonly repeated?: boolean;
  readonly help: string;
}

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
  { name: "json", help: "print the event log, one JSON object a line, instead of the answer" },
  {
    name: "session",
    short: "s",
    value: "id",
    help: "continue this session, or start one with this id",
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

const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** The session in which a run is saved. */
type Keep = "new" | "latest" | "none" | { readonly id: string };

export interface RunOptions {
  readonly task: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  readonly profile?: string;
  readonly thinking: (typeof thinkingLevels)[number];
  readonly images: readonly string[];
  readonly files: readonly string[];
  readonly yes: boolean;
  readonly json: boolean;
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
  const { values, positionals, text } = parseByTable(args, runOptions, "run");
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
  const thinking = thinkingLevels.find((level) => level === (text("thinking") ?? "off"));
  if (thinking === undefined)
    throw new UsageError(`--thinking takes one of ${thinkingLevels.join(", ")}.`);
  const seconds = number("timeout", false);
  return {
    task: positionals.join(" "),
    thinking,
    images: Array.isArray(values.image) ? values.image.map(String) : [],
    files: Array.isArray(values.file) ? values.file.map(String) : [],
    yes: values.yes === true,
    json: values.json === true,
    keep: keepOf(text("session"), values.continue === true, values["no-session"] === true),
    help: values.help === true,
    maxTurns: number("max-turns", true) ?? 50,
    retryMs: (number("retry-for", false) ?? 120) * 1000,
    ...defined({
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

function keepOf(id: string | undefined, isLatest: boolean, isNone: boolean): Keep {
  const asked: readonly unknown[] = [id, isLatest || undefined, isNone || undefined];
  if (asked.filter((one) => one !== undefined).length > 1)
    throw new UsageError("--session, --continue and --no-session exclude each other.");
  if (id !== undefined && printable(id) !== id)
    throw new UsageError("--session takes an id without control characters.");
  if (id !== undefined) return { id };
  return isLatest ? "latest" : isNone ? "none" : "new";
}

/** Formats the option lines of a command's help. */
export function optionLines(options: readonly Option[]): string {
  const rows = options.map(({ name, short, value, help }) => {
    const flag = `${short === undefined ? "    " : `-${short}, `}--${name}${value === undefined ? "" : ` <${value}>`}`;
    return [flag, help] as const;
  });
  const width = Math.max(...rows.map(([flag]) => flag.length));
  return rows.map(([flag, help]) => `  ${flag.padEnd(width)}  ${help}`).join("\n");
}

interface Parsed {
  readonly values: Readonly<Record<string, unknown>>;
  readonly positionals: readonly string[];
  /** Returns an option's value. Throws `UsageError` if it is empty. */
  readonly text: (name: string) => string | undefined;
}

/** Parses the arguments of a command by its table. Throws `UsageError` for unknown options. */
export function parseByTable(
  args: readonly string[],
  table: readonly Option[],
  command: string,
): Parsed {
  const options = Object.fromEntries(
    table.map(({ name, short, value, repeated }) => [
      name,
      {
        type: value === undefined ? ("boolean" as const) : ("string" as const),
        ...(short !== undefined && { short }),
        ...(repeated === true && { multiple: true }),
      },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { values, positionals, text: (name) => textOf(name, values[name]) };
  } catch (error) {
    // The error of node:util goes on to explain leading dashes. Its first sentence is enough.
    throw new UsageError(
      `${(error as Error).message.split(/\.\s|\n/)[0]}. See bowline ${command} --help.`,
    );
  }
}

function textOf(name: string, value: unknown): string | undefined {
  if (value === "") throw new UsageError(`--${name} needs a value.`);
  return typeof value === "string" ? value : undefined;
}
