/** The vendors' own tools: made from checked options, and encoded by the wire that knows them. */
import { checkNames } from "../check-names.ts";
import { BowlineError } from "../errors.ts";
import { isRecord } from "../json-value.ts";
import type { ProviderToolEntry, Tool, UserContent } from "../llm/message.ts";

/**
 * A vendor's own tool, for the agent's `tools`. `execute` throws if the vendor runs the tool: such
 * a tool has no calls that reach the program.
 */
export interface ProviderTool<TArguments = Record<string, unknown>> extends Tool {
  readonly providerTool: ProviderToolEntry;
  execute(
    toolCallId: string,
    params: TArguments,
    signal?: AbortSignal,
  ): ProviderToolResult | Promise<ProviderToolResult>;
}

/** What a program answers to a call of a tool that it runs, such as a screenshot. */
export interface ProviderToolResult {
  content?: UserContent[];
  isError?: boolean;
}

/** Creates a tool that runs on the vendor's servers. */
export function createProviderTool(
  name: string,
  description: string,
  providerTool: ProviderToolEntry,
): ProviderTool<never> {
  return {
    name,
    description,
    parameters: { type: "object" },
    providerTool,
    execute() {
      throw new Error(`"${name}" runs on the vendor's servers and cannot be called.`);
    },
  };
}

/**
 * Returns the options without undefined ones. Throws `invalid_argument` for an option that is not
 * among `known`; `owner` is the function that was called.
 */
export function checkedOptions(
  owner: string,
  options: object,
  known: readonly string[],
): Record<string, unknown> {
  checkNames(options, known, `option of ${owner}`);
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** Returns the function that runs a tool. Throws `invalid_argument` if it is missing. */
export function checkedExecute<TExecute>(owner: string, execute: TExecute): TExecute {
  if (typeof execute === "function") return execute;
  throw new BowlineError(
    "invalid_argument",
    `${owner} has no execute. Pass the function that performs an action.`,
  );
}

/** Returns the value with the names of all its fields in snake_case. */
export function inSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inSnakeCase);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      inSnakeCase(field),
    ]),
  );
}
