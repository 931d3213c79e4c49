/** The options of `bowline replay` and their parser. */
import { UsageError } from "../command-error.ts";
import { parseByTable, type Option } from "./options.ts";

export const replayOptions: readonly Option[] = [
  { name: "json", help: "print the event log, one JSON object a line, instead of the answer" },
  { name: "help", short: "h", help: "show this help" },
];

export interface ReplayOptions {
  readonly file: string;
  readonly json: boolean;
  readonly help: boolean;
}

/** Throws `UsageError` with one line that says what is wrong. */
export function parseReplayOptions(args: readonly string[]): ReplayOptions {
  const { values, positionals } = parseByTable(args, replayOptions, "replay");
  const help = values.help === true;
  const [file = "", ...more] = positionals;
  if (!help && file === "")
    throw new UsageError(
      "Name a recording: bowline replay <file>, written by bowline run --record",
    );
  if (more.length > 0)
    throw new UsageError(`bowline replay takes one file, not also ${JSON.stringify(more[0])}.`);
  return { file, json: values.json === true, help };
}
