/** Command line options as tables, from which parsing, help and docs/cli.md are made. */
import { parseArgs } from "node:util";
import { UsageError } from "../command-error.ts";
import { didYouMean } from "../settings/nearest-name.ts";

export interface Option {
  readonly name: string;
  readonly short?: string;
  /** Placeholder of the value in help, in brackets if it may be left out; absent for a switch. */
  readonly value?: string;
  readonly repeated?: boolean;
  readonly help: string;
}

/** Formats the option lines of a command's help. */
export function optionLines(options: readonly Option[]): string {
  const rows = options.map(({ name, short, value, help }) => {
    const flag = `${short === undefined ? "    " : `-${short}, `}--${name}${value === undefined ? "" : value.startsWith("[") ? ` ${value}` : ` <${value}>`}`;
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
    const [reason = ""] = (error as Error).message.split(/\.\s|\n/);
    const unknown = /^Unknown option '--([^'=]+)/.exec(reason)?.[1];
    const names = table.map(({ name }) => name);
    const hint = unknown === undefined ? "" : didYouMean(unknown, names, (name) => `--${name}`);
    throw new UsageError(`${reason}.${hint} See bowline ${command} --help.`);
  }
}

function textOf(name: string, value: unknown): string | undefined {
  if (value === "") throw new UsageError(`--${name} needs a value.`);
  return typeof value === "string" ? value : undefined;
}
