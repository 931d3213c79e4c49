/**
 * gai's tools carry their executor: types are checked where a tool is made, and one list holds
 * tools of any arguments.
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
   * For the model and for the check of what it writes: TypeBox, JSON Schema (`as const` for types),
   * or a Standard Schema.
   */
  schema: Schema;
  /** Gets checked arguments only. A throw is an execution error. */
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
  /** As the loop runs it; `details` keeps the executor's result. */
  readonly definition: AgentTool;
  /** Parses and checks the arguments, then executes. */
  readonly run: (ctx: Ctx, argumentsJson: string) => Promise<Outcome>;
  /** The call's result under its id, whatever came of it. */
  readonly executeCall: (ctx: Ctx, call: Call) => Promise<ToolResult>;
}

export const Tool = {
  /**
   * Throws `invalid_argument` for a name that no model takes, and for a schema that is not one of
   * an object.
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
