/** The typed way to make a tool: arguments follow from the schema, results may be plain values. */
import { BowlineError } from "../errors.ts";
import type { InferSchema } from "../infer-schema.ts";
import { defined } from "../json-value.ts";
import { assertSchema, isStandardSchema, withJsonSchema, type JsonSchema } from "../schema.ts";
import type { RunPort } from "./contract/run-port.ts";
import type { AgentTool } from "./contract/tool.ts";
import { textResult, type AgentToolResult } from "./contract/tool-result.ts";
import { resultOf, type ToolReturn } from "./contract/tool-value.ts";

/** What a tool's `execute` is told about its call. */
export interface ToolRun<TContext = unknown, TDetails = unknown> {
  readonly toolCallId: string;
  /** Fires on abort and on the tool's time limit. */
  readonly signal: AbortSignal;
  readonly context: TContext;
  /** The same for every try of this call, also after a crash. */
  readonly idempotencyKey: string;
  /** The run that called; absent when `execute` was called by hand. */
  readonly run: RunPort | undefined;
  /** Streams progress: text, or a partial result. */
  update(partial: string | AgentToolResult<TDetails>): void;
}

export interface ToolDefinition<TParameters, TDetails = unknown, TContext = unknown> extends Omit<
  AgentTool<TParameters, TDetails, TContext>,
  "execute" | "parameters"
> {
  /** A TypeBox schema, a JSON Schema (`as const` for types), or a Standard Schema. */
  parameters: TParameters;
  /**
   * The JSON Schema of a Standard Schema that cannot give its own: valibot, zod/mini, zod before
   * 4.2.
   */
  jsonSchema?: JsonSchema | undefined;
  /**
   * Throw to fail. A string is the text of the result, any other value its JSON. What an
   * `async *execute` yields is progress; what it returns, or else yielded last, is the result.
   */
  execute(args: InferSchema<TParameters>, run: ToolRun<TContext, TDetails>): ToolReturn<TDetails>;
}

/**
 * A JSON Schema, or a Standard Schema that can give one: the compiler refuses what has nothing in
 * common with a type of which all is optional.
 */
export type GivesJsonSchema = object & { readonly "~standard"?: { readonly jsonSchema?: unknown } };

/** The longest names that the named wires accept, and their alphabet. */
// Q118
const namePattern = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Makes a tool. Throws `invalid_argument` for a name no model server takes, without `execute`, and
 * for a schema that is none or not one of an object.
 */
export function defineTool<const TParameters, TDetails = unknown, TContext = unknown>(
  definition: ToolDefinition<TParameters, TDetails, TContext> & { readonly jsonSchema: JsonSchema },
): AgentTool<TParameters, TDetails, TContext>;
export function defineTool<
  const TParameters extends GivesJsonSchema,
  TDetails = unknown,
  TContext = unknown,
>(
  definition: ToolDefinition<TParameters, TDetails, TContext>,
): AgentTool<TParameters, TDetails, TContext>;
export function defineTool<const TParameters, TDetails = unknown, TContext = unknown>(
  definition: ToolDefinition<TParameters, TDetails, TContext>,
): AgentTool<TParameters, TDetails, TContext> {
  const { jsonSchema, ...rest } = definition;
  const { name } = rest;
  if (typeof name !== "string" || !namePattern.test(name)) {
    throw new BowlineError(
      "invalid_argument",
      `A tool's name must be 1 to 64 of A-Z, a-z, 0-9, _ and -, not ${JSON.stringify(name)}.`,
    );
  }
  if (typeof definition.execute !== "function")
    throw new BowlineError(
      "invalid_argument",
      `The tool "${name}" has no execute: give the function that runs it.`,
    );
  const given: unknown = rest.parameters;
  const parameters =
    jsonSchema !== undefined && isStandardSchema(given) ? withJsonSchema(given, jsonSchema) : given;
  assertSchema(parameters, `tool "${name}"`);
  const { needsApproval } = definition;
  return {
    ...rest,
    // A definition may be an instance of a class, whose methods are not its own.
    ...defined({
      prepareArguments: definition.prepareArguments?.bind(definition),
      needsApproval:
        typeof needsApproval === "function" ? needsApproval.bind(definition) : needsApproval,
    }),
    parameters: parameters as TParameters,
    async execute(toolCallId, params, signal, onUpdate, run) {
      const value = definition.execute(params, {
        toolCallId,
        signal: signal ?? new AbortController().signal,
        context: run?.context as TContext,
        idempotencyKey: run?.idempotencyKey ?? toolCallId,
        run: run?.run,
        update: (partial) =>
          onUpdate?.(typeof partial === "string" ? textResult(partial) : partial),
      });
      return resultOf(value, onUpdate, signal);
    },
  };
}
