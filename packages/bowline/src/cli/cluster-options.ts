/** The options of `bowline cluster` and their parser. */
import { UsageError } from "../command-error.ts";
import { parseByTable, type Option } from "./options.ts";

export const clusterOptions: readonly Option[] = [
  { name: "cluster", value: "file", help: "the file that bowline serve --cluster takes" },
  { name: "json", help: "print one JSON object instead" },
  { name: "help", short: "h", help: "show this help" },
];

export type ClusterCommand =
  | { readonly help: true }
  | { readonly help: false; readonly cluster: string; readonly json: boolean };

/** Throws `UsageError` with one line that says what is wrong. */
export function parseClusterOptions(args: readonly string[]): ClusterCommand {
  const { values, positionals, text } = parseByTable(args, clusterOptions, "cluster");
  if (values.help === true) return { help: true };
  if (positionals.length !== 1 || positionals[0] !== "status")
    throw new UsageError("bowline cluster has one command: bowline cluster status.");
  const cluster = text("cluster");
  if (cluster === undefined)
    throw new UsageError("Which cluster? Pass the file of bowline serve: --cluster <file>.");
  return { help: false, cluster, json: values.json === true };
}
