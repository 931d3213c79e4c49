/** The arguments of a tool's calls while they arrive. */
import type { AgentEvent } from "../agent/contract/event.ts";
import type { AgentTool } from "../agent/contract/tool.ts";
import { errorText } from "../errors.ts";
import type { InferSchema } from "../infer-schema.ts";
import type { ToolCall } from "../llm/message.ts";
import { toJsonSchema, validate } from "../schema.ts";
import { ArgumentsReader } from "./arguments-reader.ts";
import type { InferInput } from "./deep-partial.ts";
import type { PartialArgumentsEvent } from "./partial-event.ts";
import { SchemaPosition } from "./schema-position.ts";

/** The part of a tool that is needed to follow its calls. */
type FollowedTool<TParameters> = Pick<AgentTool<TParameters>, "name" | "parameters"> &
  Partial<Pick<AgentTool<TParameters>, "prepareArguments">>;

/**
 * Follows the arguments of all calls of one tool while the model writes them. Takes an `AgentStream`
 * or any iterable of its events. Each event names its call. `partial_end` carries the arguments if
 * they fit the tool's schema, or a message; the run checks them again and may still refuse the call.
 * A call that is withdrawn has a `partial_reset` event and no end. Rejects when the events do. Throws
 * `invalid_argument` for an invalid schema.
 */
export function partialArguments<TParameters>(
  run: AsyncIterable<AgentEvent>,
  tool: FollowedTool<TParameters>,
): AsyncIterable<PartialArgumentsEvent<InferInput<TParameters>, InferSchema<TParameters>>> {
  const position = new SchemaPosition(toJsonSchema(tool.parameters, `tool "${tool.name}"`));
  return {
    async *[Symbol.asyncIterator]() {
      const reader = new ArgumentsReader(tool.name, position);
      for await (const event of run)
        for (const step of reader.read(event))
          yield (
            step.type === "complete" ? await endOf(tool, step.call) : step
          ) as PartialArgumentsEvent<InferInput<TParameters>, InferSchema<TParameters>>;
    },
  };
}

/** Checks the arguments as the run will. */
async function endOf<TParameters>(
  tool: FollowedTool<TParameters>,
  { id, argumentsError, arguments: given }: ToolCall,
): Promise<PartialArgumentsEvent> {
  const end = { type: "partial_end", toolCallId: id } as const;
  if (argumentsError !== undefined) return { ...end, message: argumentsError };
  try {
    const raw = structuredClone(given);
    const prepared = tool.prepareArguments?.(raw) ?? raw;
    const checked = await validate(tool.parameters, prepared, `tool "${tool.name}"`);
    if (checked.issues === undefined) return { ...end, arguments: checked.value };
    const lines = checked.issues.map(({ path, message }) => `${path || "arguments"}: ${message}`);
    return { ...end, message: `The arguments do not fit the schema: ${lines.join("; ")}` };
  } catch (error) {
    return { ...end, message: errorText(error) };
  }
}
