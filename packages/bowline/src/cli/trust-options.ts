/** The options of `bowline trust` and their parser. */
import { UsageError } from "../command-error.ts";
import { parseByTable, type Option } from "./options.ts";

export const trustOptions: readonly Option[] = [
  { name: "list", short: "l", help: "list the trusted folders" },
  { name: "remove", help: "trust the folder no longer" },
  { name: "yes", short: "y", help: "do not ask" },
  { name: "help", short: "h", help: "show this help" },
];

export interface TrustOptions {
  readonly action: "trust" | "list" | "remove";
  /** Default: the current folder. */
  readonly folder?: string;
  readonly yes: boolean;
  readonly help: boolean;
}

/** Throws `UsageError` with one line that says what is wrong. */
export function parseTrustOptions(args: readonly string[]): TrustOptions {
  const { values, positionals } = parseByTable(args, trustOptions, "trust");
  const [folder, more] = positionals;
  if (more !== undefined) throw new UsageError("bowline trust takes one folder.");
  if (values.list === true && values.remove === true)
    throw new UsageError("--list and --remove exclude each other.");
  return {
    action: values.list === true ? "list" : values.remove === true ? "remove" : "trust",
    yes: values.yes === true,
    help: values.help === true,
    ...(folder !== undefined && { folder }),
  };
}
