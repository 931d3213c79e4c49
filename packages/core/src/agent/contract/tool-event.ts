/** The events of one tool, typed with its arguments and details. */
import type { InferSchema } from "../../infer-schema.ts";
import type { AgentEvent } from "./event.ts";
import type { AgentTool } from "./tool.ts";
import type { AgentToolResult, CheckedToolResult } from "./tool-result.ts";

type EventOf<TType> = Extract<AgentEvent, { type: TType }>;

/** Arguments as the model wrote them: names from the schema, unvalidated values. */
type Unchecked<TArguments> = Readonly<Record<string, unknown>> & {
  readonly [TName in keyof TArguments]?: unknown;
};

/**
 * An event about a call of a tool with these types. `args` are validated in `approval_request`, and
 * as the model wrote them in other events.
 */
export type ToolEvent<TParameters = unknown, TDetails = unknown> =
  | (EventOf<"tool_execution_start"> & { readonly args: Unchecked<InferSchema<TParameters>> })
  | (EventOf<"tool_execution_update"> & {
      readonly args: Unchecked<InferSchema<TParameters>>;
      readonly partialResult: AgentToolResult<TDetails>;
    })
  | (EventOf<"tool_execution_end"> & { readonly result: CheckedToolResult<TDetails> })
  | (EventOf<"approval_request"> & { readonly args: InferSchema<TParameters> });

/**
 * Returns whether an event is about a call of this tool, by the tool's name. Narrows the types of
 * its arguments and details.
 */
export function isEventOf<TParameters, TDetails>(
  tool: Pick<AgentTool<TParameters, TDetails>, "name" | "parameters" | "execute">,
  event: AgentEvent,
): event is ToolEvent<TParameters, TDetails> {
  return "toolName" in event && event.toolName === tool.name;
}
