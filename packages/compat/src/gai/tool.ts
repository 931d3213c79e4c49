/**
 * gai's tools contain their executor. Types are checked where a tool is created, so that one list
 * can hold tools with any arguments.
 */
import { defineTool, textResult, type AgentTool } from "@bowline/core/agent";
import { type InferSchema, messageText, toJsonSchema, type JsonSchema } from "@bowline/core";
import { runCall } from "../run-call.ts";
import { toToolCall } from "../transcript.ts";
import type { Call } from "./message.ts";
import { err, errorToString, type Result, type ToolError } from "./result.ts";

type Outcome = Result<string, ToolError>;

export interface ToolOptions<Schema, Ctx> {
  name: string;
  description: string;
  /**
   * Describes the arguments to the model and validates them: TypeBox, JSON Schema (`as const` for
   * types), or a Standard Schema.
   */
  schema: Schema;
  /** Receives validated arguments only. A thrown error becomes an execution error. */
  execute: (ctx: Ctx, args: InferSchema<Schema>) => Outcome | Promise<Outcome>;
}

export interface ToolResult {
  readonly toolUseId: string;
  readonly content: Result<string, string>;
}

export interface Tool<Ctx = unknown> {
  readonly name: string;
  readonly description: string;
  readonly schemaJson: JsonSchema;
  /** The tool in the form of core's loop. `details` holds the executor's result. */
  readonly definition: AgentTool;
  /** Parses and validates the arguments, then executes. */
  readonly run: (ctx: Ctx, argumentsJson: string) => Promise<Outcome>;
  /** Returns the call's result under its id, also for failures. */
  readonly executeCall: (ctx: Ctx, call: Call) => Promise<ToolResult>;
}

export const Tool = {
  /**
   * Throws `invalid_argument` for a name that no model accepts, and for a schema that does not
   * describe an object.
   */
  new<const Schema, Ctx = unknown>({
    name,
    description,
    schema,
    execute,
  }: ToolOptions<Schema, Ctx>): Tool<Ctx> {
    const schemaJson = toJsonSchema(schema, `tool "${name}"`);
    const attempt = async (ctx: Ctx, args: InferSchema<Schema>): Promise<Outcome> =>
      execute(ctx, args);
    const definition = defineTool<Schema, Outcome, Ctx>({
      name,
      description,
      parameters: schema,
      jsonSchema: schemaJson,
      async execute(args, { context }) {
        const details = await attempt(context, args).catch(toOutcome);
        return {
          ...textResult(details.ok ? details.value : errorToString(details.error)),
          isError: !details.ok,
          details,
        };
      },
    });
    const run: Tool<Ctx>["run"] = async (ctx, argumentsJson) => {
      const result = await runCall([definition], toToolCall(name, name, argumentsJson), ctx);
      return (
        (result.details as Outcome | undefined) ??
        err({ type: "ParseError", message: messageText(result) })
      );
    };
    return {
      name,
      description,
      schemaJson,
      definition,
      run,
      async executeCall(ctx, { id: toolUseId, argumentsJson }) {
        const result = await run(ctx, argumentsJson);
        return { toolUseId, content: result.ok ? result : err(errorToString(result.error)) };
      },
    };
  },
};

function toOutcome(thrown: unknown): Outcome {
  return err({
    type: "ExecutionError",
    message: thrown instanceof Error ? thrown.message : String(thrown),
  });
}
