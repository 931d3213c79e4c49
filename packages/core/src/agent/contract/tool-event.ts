/** Events of one tool, with the types of its arguments and details. */
import type { InferSchema } from "../../infer-schema.ts";
import type { AgentEvent } from "./event.ts";
import type { AgentTool } from "./tool.ts";
import type { AgentToolResult, CheckedToolResult } from "./tool-result.ts";

type EventOf<TType> = Extract<AgentEvent, { type: TType }>;

/** Arguments as the model wrote them: the names are the schema's, the values are not checked. */
type Unchecked<TArguments> = Readonly<Record<string, unknown>> & {
  readonly [TName in keyof TArguments]?: unknown;
};

/**
 * An event about a call of a tool with these types. `args` are checked where a person is asked for
 * approval, and as the model wrote them elsewhere.
 */
export type ToolEvent<TParameters = unknown, TDetails = unknown> =
  | (EventOf<"tool_execution_start"> & { readonly args: Unchecked<InferSchema<TParameters>> })
  | (EventOf<"tool_execution_update"> & {
      readonly args: Unchecked<InferSchema<TParameters>>;
      readonly partialResult: AgentToolResult<TDetails>;
    })
  | (EventOf<"tool_execution_end"> & { readonly result: CheckedToolResult<TDetails> })
  | (EventOf<"approval_request"> & { readonly args: InferSchema<TParameters> });

/** Whether an event is about a call of this tool, by the tool's name; types its arguments and details. */
export function isEventOf<TParameters, TDetails>(
  tool: Pick<AgentTool<TParameters, TDetails>, "name" | "parameters" | "execute">,
  event: AgentEvent,
): event is ToolEvent<TParameters, TDetails> {
  return "toolName" in event && event.toolName === tool.name;
}
