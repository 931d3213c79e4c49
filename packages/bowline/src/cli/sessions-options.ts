/** The options of `bowline sessions` and their parser. */
import { UsageError } from "../command-error.ts";
import { parseByTable, type Option } from "./options.ts";

type SubcommandName =
  | "list"
  | "show"
  | "replay"
  | "search"
  | "fork"
  | "rename"
  | "export"
  | "import"
  | "delete";

export interface Subcommand {
  readonly name: SubcommandName;
  /** The operands after the name. */
  readonly takes: readonly string[];
  readonly help: string;
  readonly options: readonly Option[];
}

const json: Option = { name: "json", help: "print JSON instead, one object a session" };
const limit: Option = {
  name: "limit",
  short: "n",
  value: "n",
  help: "show n sessions at most (default 20)",
};
export const helpOption: Option = { name: "help", short: "h", help: "show this help" };

/** The first is the default of `bowline sessions`. */
export const subcommands: readonly Subcommand[] = [
  {
    name: "list",
    takes: [],
    help: "the sessions of this directory, the latest first",
    options: [
      { name: "all", short: "a", help: "include sessions of other directories" },
      limit,
      json,
    ],
  },
  {
    name: "show",
    takes: ["id"],
    help: "print the conversation, each message with the id of its entry",
    options: [{ name: "json", help: "print JSON instead: the header and every entry" }],
  },
  {
    name: "replay",
    takes: ["id"],
    help: "print what the conversation showed on the terminal, at any width",
    options: [
      { name: "width", short: "w", value: "columns", help: "the width (default the terminal's)" },
    ],
  },
  {
    name: "search",
    takes: ["words"],
    help: "sessions of all directories that have each word in the title",
    options: [{ name: "text", short: "t", help: "search the messages too" }, limit, json],
  },
  {
    name: "fork",
    takes: ["id"],
    help: "copy the session up to an entry into a new one; prints its id",
    options: [
      {
        name: "at",
        value: "entry",
        help: "the last entry to copy (default the last of the session)",
      },
    ],
  },
  { name: "rename", takes: ["id", "title"], help: "give a title", options: [] },
  {
    name: "export",
    takes: ["id"],
    help: "the whole session for people or programs",
    options: [
      {
        name: "format",
        short: "f",
        value: "format",
        help: "md, html or json (default by the file's name, else md)",
      },
      {
        name: "output",
        short: "o",
        value: "file",
        help: "write a file that only you can read, instead of printing",
      },
    ],
  },
  {
    name: "import",
    takes: [],
    help: "copy all sessions into a PostgreSQL database; again copies only what is new",
    options: [
      {
        name: "to",
        value: "url",
        help: "postgresql://user@host/database (default BOWLINE_DATABASE_URL)",
      },
      { name: "schema", value: "name", help: "the schema of the tables (default bowline)" },
      { name: "dry-run", help: "say what would be copied, and change nothing" },
      json,
    ],
  },
  {
    name: "delete",
    takes: ["id"],
    help: "delete permanently; asks first",
    options: [{ name: "yes", short: "y", help: "do not ask" }],
  },
];

export interface SessionsOptions {
  readonly name: SubcommandName;
  readonly help: boolean;
  /** The operands that `takes` names, in that order. The last one may consist of several words. */
  readonly operands: readonly string[];
  readonly all: boolean;
  readonly json: boolean;
  readonly text: boolean;
  readonly yes: boolean;
  readonly limit: number;
  readonly width?: number;
  readonly at?: string;
  readonly output?: string;
  readonly to?: string;
  readonly schema?: string;
  readonly dryRun: boolean;
  readonly format?: Format;
}

const formats = ["md", "html", "json"] as const;
export type Format = (typeof formats)[number];

/** Throws `UsageError` with one line that says what is wrong. */
export function parseSessionsOptions(args: readonly string[]): SessionsOptions {
  const [first] = args;
  const isNamed = first !== undefined && !first.startsWith("-");
  const subcommand = subcommands.find(({ name }) => name === (isNamed ? first : "list"));
  if (subcommand === undefined) {
    const names = subcommands.map(({ name }) => name).join(", ");
    throw new UsageError(
      `There is no bowline sessions ${JSON.stringify(first)}: use one of ${names}.`,
    );
  }
  const table = [...subcommand.options, helpOption];
  const { values, positionals, text } = parseByTable(
    isNamed ? args.slice(1) : args,
    table,
    "sessions",
  );
  const help = values.help === true;
  const [at, output, to, schema] = ["at", "output", "to", "schema"].map(text);
  const format = formatOf(text("format"), output);
  const width = widthOf(text("width"));
  return {
    name: subcommand.name,
    help,
    operands: help ? [] : operandsOf(subcommand, positionals),
    all: values.all === true,
    json: values.json === true,
    text: values.text === true,
    yes: values.yes === true,
    dryRun: values["dry-run"] === true,
    limit: limitOf(text("limit")),
    ...(width !== undefined && { width }),
    ...(at !== undefined && { at }),
    ...(output !== undefined && { output }),
    ...(to !== undefined && { to }),
    ...(schema !== undefined && { schema }),
    ...(format !== undefined && { format }),
  };
}

function operandsOf({ name, takes }: Subcommand, given: readonly string[]): string[] {
  const usage = `bowline sessions ${[name, ...takes.map((what) => `<${what}>`)].join(" ")}`;
  const last = takes.at(-1);
  const takesWords = last === "words" || last === "title";
  if (given.length < takes.length || given.includes(""))
    throw new UsageError(`Which ${takes[given.length] ?? "one"}? ${usage}`);
  if (given.length === takes.length) return [...given];
  if (!takesWords)
    throw new UsageError(
      `${usage} takes no ${JSON.stringify(withoutPassword(given[takes.length] ?? ""))}.`,
    );
  return [...given.slice(0, takes.length - 1), given.slice(takes.length - 1).join(" ")];
}

/** A database's address may have been given in the wrong place. */
function withoutPassword(text: string): string {
  return text.replace(/(:\/\/[^:@/]*):.*@/s, "$1:…@");
}

function limitOf(text = "20"): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new UsageError(`--limit takes a whole number of at least 1, not ${JSON.stringify(text)}.`);
}

function widthOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 20 && value <= 1000) return value;
  throw new UsageError(
    `--width takes a number of columns from 20 to 1000, not ${JSON.stringify(text)}.`,
  );
}

function formatOf(text: string | undefined, output: string | undefined): Format | undefined {
  if (text === undefined) return formats.find((format) => output?.endsWith(`.${format}`) === true);
  const format = formats.find((name) => name === text);
  if (format === undefined)
    throw new UsageError(
      `--format takes one of ${formats.join(", ")}, not ${JSON.stringify(text)}.`,
    );
  return format;
}
