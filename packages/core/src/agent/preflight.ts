/** Whether a call may run, and with which arguments: it must be complete, name a known tool, fit its schema, and be allowed. */
import { errorText } from "../errors.ts";
import type { AssistantMessage, ToolCall } from "../llm/message.ts";
import { validate, type SchemaIssue, type ValidationResult } from "../schema.ts";
import { isThenable } from "./emitter.ts";
import type { BeforeToolCallResult } from "./hooks.ts";
import type { Run } from "./run.ts";
import { keyOf } from "./run-tool.ts";
import type { AgentTool } from "./tool.ts";

export interface Ready {
  readonly call: ToolCall;
  readonly tool: AgentTool;
  /** Checked. */
  readonly args: unknown;
}

/** Refuses with a text for the model, which says what to do instead. Never throws. */
export async function preflight(
  run: Run,
  message: AssistantMessage,
  call: ToolCall,
  tools: ReadonlyMap<string, AgentTool>,
): Promise<Ready | { readonly refusal: string }> {
  const tool = tools.get(call.name);
  if (tool === undefined) return { refusal: unknownTool(call.name, [...tools.keys()]) };
  const again = `Call ${call.name} again with`;
  if (message.stopReason === "length")
    return { refusal: `Not run: the token limit cut the answer. ${again} less at once.` };
  if (call.argumentsError !== undefined) return { refusal: `Not run: ${call.argumentsError} ${again} valid JSON.` };
  try {
    const raw: unknown = tool.prepareArguments ? tool.prepareArguments(call.arguments) : call.arguments;
    const { config, context, signal, port } = run;
    const check = async (value: unknown): Promise<unknown> => {
      const checking = validate(tool.parameters, value, `tool "${tool.name}"`);
      const checked = isThenable<ValidationResult>(checking) ? await run.patiently(checking, 0) : checking;
      if (checked.issues !== undefined) throw new Error(invalidArguments(call, checked.issues));
      return checked.value;
    };
    const args = await check(raw);
    if (config.beforeToolCall === undefined) return { call, tool, args };
    const before = fingerprint(args);
    const idempotencyKey = keyOf(run, call);
    const state = { assistantMessage: message, toolCall: call, args, context, run: port, idempotencyKey };
    const asked = config.beforeToolCall(state, signal);
    const verdict =
      (isThenable<BeforeToolCallResult | undefined | void>(asked) ? await run.patiently(asked, 0) : asked) ?? {};
    if (verdict.block === true) return { refusal: verdict.reason ?? "Tool execution was blocked" };
    // Arguments changed by the hook, in their place too, are checked like the model's own.
    const { args: edited = args } = verdict;
    return { call, tool, args: fingerprint(edited) === before ? args : await check(edited) };
  } catch (error) {
    return { refusal: errorText(error) };
  }
}

/** Tells whether arguments were changed; those that a schema made may hold what JSON does not know. */
function fingerprint(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? String(part) : part));
}

function invalidArguments(call: ToolCall, issues: readonly SchemaIssue[]): string {
  const lines = issues.map(({ path, message }) => `  - ${path === "" ? "arguments" : path}: ${message}`);
  return `Invalid arguments for tool "${call.name}":\n${lines.join("\n")}`;
}

function unknownTool(name: string, known: readonly string[]): string {
  const fold = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  const folded = fold(name);
  const near = known.filter((other) => fold(other).includes(folded) || folded.includes(fold(other)));
  const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
  return `Tool "${name}" not found.${hint} Available: ${known.join(", ") || "none"}.`;
}
