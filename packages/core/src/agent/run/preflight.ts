/**
 * Decides whether a call may run, and with which arguments. The call must be complete, name a known
 * tool, fit its schema, and be allowed.
 */
import { defined, jsonText, keepDigits, shorten } from "../../json-value.ts";
import type { AssistantMessage, ToolCall } from "../../llm/message.ts";
import { validate, type SchemaIssue, type ValidationResult } from "../../schema.ts";
import type { BeforeToolCallContext, BeforeToolCallResult } from "../contract/hooks.ts";
import type { AgentTool } from "../contract/tool.ts";
import { failedCall, type SettledCall } from "../contract/tool-result.ts";
import { approvalNeed, unapproved } from "./approval-need.ts";
import { keyOf } from "./call-names.ts";
import type { Run } from "./run.ts";

/** Maximum length, in UTF-16 units, of invalid arguments quoted in an error result. */
const MAX_QUOTE_LENGTH = 500;

export interface Ready {
  readonly call: ToolCall;
  readonly tool: AgentTool;
  /** The validated arguments. */
  readonly args: unknown;
}

/**
 * Returns the call with its validated arguments, or the result of a call that a hook blocked. When
 * the call may not run, throws an error whose message tells the model what to do instead.
 */
export async function preflight(
  run: Run,
  message: AssistantMessage,
  call: ToolCall,
  tools: ReadonlyMap<string, AgentTool>,
): Promise<Ready | SettledCall> {
  const tool = tools.get(call.name);
  if (!tool) throw new Error(unknownTool(call.name, [...tools.keys()]));
  const again = `Call ${call.name} again with`;
  if (message.stopReason === "length")
    throw new Error(`Not run: the token limit cut the answer. ${again} less at once.`);
  if (call.argumentsError)
    throw new Error(`Not run: ${call.argumentsError} ${again} valid JSON.${quoteOf(call)}`);
  const check = async (value: unknown): Promise<unknown> => {
    const checked = await run.grace.patiently<ValidationResult>(
      validate(tool.parameters, value, `tool "${tool.name}"`),
    );
    if (checked.issues) throw new Error(invalidArguments(call, checked.issues));
    return checked.value;
  };
  // Clone, because hooks and tools may change the arguments, and the transcript must not change.
  const raw = structuredClone(call.arguments);
  const args = await check(tool.prepareArguments?.(raw) ?? raw);
  const { beforeToolCall } = run.config;
  if (!beforeToolCall && tool.needsApproval === undefined) return { call, tool, args };
  const before = jsonText(args);
  const needsApproval = await approvalNeed(run, tool, call, args);
  let approved: { readonly text: string | undefined } | undefined;
  const approve = (allowed: unknown = args): void => void (approved = { text: jsonText(allowed) });
  const about = { ...aboutCall(run, message, call, args), ...defined({ needsApproval }), approve };
  const verdict =
    (await run.grace.patiently<BeforeToolCallResult | undefined | void>(
      beforeToolCall?.(about, run.signal),
    )) ?? {};
  if (verdict.block) {
    const blocked = failedCall(verdict.reason || "Tool execution was blocked");
    const { terminate } = verdict;
    return { ...blocked, result: { ...blocked.result, ...defined({ terminate }) } };
  }
  // Validate arguments again if the hook replaced or mutated them.
  const { args: edited = args } = verdict;
  const after = jsonText(edited);
  const isSame = after === before;
  const checked = isSame ? args : await check(edited);
  // An approval is valid only for the arguments that were shown.
  if (!approved || approved.text !== after) {
    const need = isSame ? needsApproval : await approvalNeed(run, tool, call, checked);
    const changed = approved && "its arguments were changed after the approval";
    const why = beforeToolCall ? "it was not given" : "there is no way to ask for it";
    if (need !== undefined) throw new Error(unapproved(call, need, changed ?? why));
  }
  return { call, tool, args: checked };
}

/** Returns the context that the hooks around a tool receive. */
export function aboutCall(
  run: Run,
  assistantMessage: AssistantMessage,
  toolCall: ToolCall,
  args: unknown,
): BeforeToolCallContext {
  const { context, port } = run;
  return {
    assistantMessage,
    toolCall,
    args,
    context,
    run: port,
    idempotencyKey: keyOf(run, toolCall),
  };
}

/** Quotes invalid arguments, because the next request shows the model `{}` instead of them. */
function quoteOf({ argumentsText = "" }: ToolCall): string {
  return argumentsText && ` You wrote: ${shorten(argumentsText, MAX_QUOTE_LENGTH)}`;
}

function invalidArguments(call: ToolCall, issues: readonly SchemaIssue[]): string {
  const lines = issues.map(({ path, message }) => `  - ${path || "arguments"}: ${message}`);
  const { argumentsText = "" } = call;
  if (keepDigits(argumentsText) !== argumentsText)
    lines.push(
      "A number with too many digits was read as text. Write it in quotes, or with fewer digits.",
    );
  return `Invalid arguments for tool "${call.name}":\n${lines.join("\n")}`;
}

function unknownTool(name: string, known: readonly string[]): string {
  const fold = (text: string): string => text.toLowerCase().replace(/[\W_]/g, "");
  const folded = fold(name);
  const near = known.filter(
    (other) => fold(other).includes(folded) || folded.includes(fold(other)),
  );
  const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
  return `Tool "${name}" not found.${hint} Available: ${known.join(", ") || "none"}.`;
}
