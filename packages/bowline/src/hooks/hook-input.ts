/** What a hook gets on standard input: Claude Code's names of tools and fields, beside those of this program. */
import { resolve } from "node:path";
import type { AgentToolResult } from "@bowline/core";
import { hookToolName, type SessionSource } from "../settings/hook-names.ts";

/** Characters of a result's text that a hook gets. */
const MAX_RESULT = 100_000;

export interface HookCall {
  readonly tool: string;
  readonly toolCallId: string;
  readonly args: unknown;
}

/** The fields of an event beside those that all events have. */
export type EventInput = Readonly<Record<string, unknown>>;

export function callInput({ tool, toolCallId, args }: HookCall, directory: string): EventInput {
  return {
    tool_name: hookToolName(tool),
    tool_input: toolInput(tool, args, directory),
    tool_use_id: toolCallId,
  };
}

/** Scripts read Claude Code's names of fields. A script that finds none would guard nothing. */
function toolInput(tool: string, args: unknown, directory: string): unknown {
  if (typeof args !== "object" || args === null) return args;
  const given = args as Readonly<Record<string, unknown>>;
  const { path, oldText, newText } = given;
  const isFile = tool === "read" || tool === "write" || tool === "edit";
  return {
    ...given,
    ...(isFile && typeof path === "string" && { file_path: resolve(directory, path) }),
    ...(tool === "edit" && { old_string: oldText, new_string: newText }),
  };
}

export function resultInput({ content = [], details }: AgentToolResult): EventInput {
  const text = content
    .map((part) => (part.type === "text" ? part.text : `[${part.type}]`))
    .join("\n");
  return {
    tool_response: { text: text.slice(0, MAX_RESULT), ...(details !== undefined && { details }) },
  };
}

export function promptInput(prompt: string): EventInput {
  return { prompt };
}

/** `isActive`: the run goes on already because a hook refused its end. */
export function stopInput(isActive: boolean): EventInput {
  return { stop_hook_active: isActive };
}

export function sessionInput(source: SessionSource): EventInput {
  return { source };
}
