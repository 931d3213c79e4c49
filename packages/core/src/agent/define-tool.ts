/** Defines tools with types: arguments are typed by the schema, and results may be plain values. */
import { BowlineError } from "../errors.ts";
import type { InferSchema } from "../infer-schema.ts";
import { defined } from "../json-value.ts";
import { assertSchema, isStandardSchema, withJsonSchema, type JsonSchema } from "../schema.ts";
import type { RunPort } from "./contract/run-port.ts";
import type { AgentTool } from "./contract/tool.ts";
import { textResult, type AgentToolResult } from "./contract/tool-result.ts";
import { resultOf, type ToolReturn } from "./contract/tool-value.ts";

/** The second argument of a tool's `execute`: the current call. */
export interface ToolRun<TContext = unknown, TDetails = unknown> {
  readonly toolCallId: string;
  /** Fires on abort and at the tool's time limit. */
  readonly signal: AbortSignal;
  readonly context: TContext;
  /** The same for every attempt of this call, also after a crash. */
  readonly idempotencyKey: string;
  /** The run that made the call. Undefined when `execute` was called directly. */
  readonly run: RunPort | undefined;
  /** Reports progress: text, or a partial result. */
  update(partial: string | AgentToolResult<TDetails>): void;
}

export interface ToolDefinition<TParameters, TDetails = unknown, TContext = unknown> extends Omit<
  AgentTool<TParameters, TDetails, TContext>,
  "execute" | "parameters"
> {
  /** A TypeBox schema, a JSON Schema (`as const` for types), or a Standard Schema. */
  parameters: TParameters;
  /**
   * The JSON Schema for a Standard Schema that does not provide one: valibot, zod/mini, zod before
   * 4.2.
   */
  jsonSchema?: JsonSchema | undefined;
  /**
   * Runs the tool. A throw fails the call. A returned string is the text of the result; other
   * values become JSON. An `async *execute` yields progress, and its return value, or else its last
   * yielded value, is the result.
   */
  execute(args: InferSchema<TParameters>, run: ToolRun<TContext, TDetails>): ToolReturn<TDetails>;
}

/**
 * A JSON Schema, or a Standard Schema that provides one. TypeScript rejects a type that shares no
 * property with a type of only optional properties, so a Standard Schema without `jsonSchema` is a
 * type error.
 */
export type GivesJsonSchema = object & { readonly "~standard"?: { readonly jsonSchema?: unknown } };

/** The tool names that every supported protocol accepts. */
// Q118
const namePattern = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Creates a tool. Throws `invalid_argument` for a name that model servers do not accept, a missing
 * `execute`, an invalid schema, and a schema that does not describe an object.
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
      `A tool's name must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -, not ${JSON.stringify(name)}.`,
    );
  }
  if (typeof definition.execute !== "function")
    throw new BowlineError(
      "invalid_argument",
      `The tool "${name}" has no execute. Pass the function that runs it.`,
    );
  const given: unknown = rest.parameters;
  const parameters =
    jsonSchema !== undefined && isStandardSchema(given) ? withJsonSchema(given, jsonSchema) : given;
  assertSchema(parameters, `tool "${name}"`);
  const { needsApproval } = definition;
  return {
    ...rest,
    // A definition may be a class instance, whose methods a spread does not copy.
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
