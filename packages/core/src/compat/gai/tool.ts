/** gai's tools carry their executor: types are checked where a tool is made, and one list holds tools of any arguments. */
import { defineTool, textResult, type AgentTool } from "../../agent/index.ts";
import type { InferSchema } from "../../infer-schema.ts";
import { messageText } from "../../llm/message.ts";
import { toJsonSchema, type JsonSchema } from "../../schema.ts";
import { runCall } from "../run-call.ts";
import { toToolCall } from "../transcript.ts";
import type { Call } from "./message.ts";
import { err, errorToString, ok, type Result, type ToolError } from "./result.ts";

type Outcome = Result<string, ToolError>;

export interface ToolOptions<Schema, Ctx> {
  name: string;
  description: string;
  /** For the model and for the check of what it writes: TypeBox, JSON Schema (`as const` for types), or a Standard Schema. */
  schema: Schema;
  /** Gets checked arguments only. A throw is an execution error. */
  execute: (ctx: Ctx, args: InferSchema<Schema>) => Outcome | Promise<Outcome>;
}

export interface ToolResult {
  readonly toolUseId: string;
  readonly content: Result<string, string>;
}

export class Tool<Ctx = unknown> {
  /** As the loop runs it; `details` keeps the executor's result. */
  readonly definition: AgentTool;

  private constructor(definition: AgentTool) {
    this.definition = definition;
  }

  /** Throws `invalid_argument` for a name that no model takes, and for a schema that is not one of an object. */
  static new<const Schema, Ctx = unknown>({ schema, execute, ...about }: ToolOptions<Schema, Ctx>): Tool<Ctx> {
    const definition = defineTool({
      ...about,
      parameters: schema,
      async execute(args, { context }) {
        const result = await attempt(() => execute(context as Ctx, args));
        const text = result.ok ? result.value : errorToString(result.error);
        return { ...textResult(text), isError: !result.ok, details: result };
      },
    });
    return new Tool(definition);
  }

  get name(): string {
    return this.definition.name;
  }
  get description(): string {
    return this.definition.description;
  }
  get schemaJson(): JsonSchema {
    return toJsonSchema(this.definition.parameters, `tool "${this.name}"`);
  }

  /** Parses and checks the arguments, then executes. */
  async run(ctx: Ctx, argumentsJson: string): Promise<Outcome> {
    const message = await runCall([this.definition], toToolCall(this.name, this.name, argumentsJson), ctx);
    if (message.details !== undefined) return message.details as Outcome;
    return err({ type: "ParseError", message: messageText(message) });
  }

  /** The call's result under its id, whatever came of it. */
  async executeCall(ctx: Ctx, { id: toolUseId, argumentsJson }: Call): Promise<ToolResult> {
    const result = await this.run(ctx, argumentsJson);
    return { toolUseId, content: result.ok ? ok(result.value) : err(errorToString(result.error)) };
  }
}

async function attempt(work: () => Outcome | Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    return err({ type: "ExecutionError", message: error instanceof Error ? error.message : String(error) });
  }
}
