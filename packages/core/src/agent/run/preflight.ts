/**
 * Whether a call may run, and with which arguments: it must be complete, name a known tool, fit its
 * schema, and be allowed.
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

/** How much an error result quotes of arguments that are not valid JSON, in UTF-16 units. */
const MAX_QUOTE_LENGTH = 500;

export interface Ready {
  readonly call: ToolCall;
  readonly tool: AgentTool;
  /** Checked. */
  readonly args: unknown;
}

/**
 * Throws with a text for the model, which says what to do instead, when the call may not run; gives
 * the result of one that a hook has blocked.
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
  // Hooks and tools may write on what they get; what the model wrote stays.
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
  // Arguments changed by the hook, in their place too, are checked like the model's own.
  const { args: edited = args } = verdict;
  const after = jsonText(edited);
  const isSame = after === before;
  const checked = isSame ? args : await check(edited);
  // An approval holds for the arguments that were shown, and no others.
  if (!approved || approved.text !== after) {
    const need = isSame ? needsApproval : await approvalNeed(run, tool, call, checked);
    const changed = approved && "its arguments were changed after the approval";
    const why = beforeToolCall ? "nobody has given it" : "there is no way to ask for it";
    if (need !== undefined) throw new Error(unapproved(call, need, changed ?? why));
  }
  return { call, tool, args: checked };
}

/** What the hooks around a tool are told of its call. */
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

/** The next request shows the model `{}` in place of arguments that are not valid JSON. */
function quoteOf({ argumentsText = "" }: ToolCall): string {
  return argumentsText && ` You wrote: ${shorten(argumentsText, MAX_QUOTE_LENGTH)}`;
}

function invalidArguments(call: ToolCall, issues: readonly SchemaIssue[]): string {
  const lines = issues.map(({ path, message }) => `  - ${path || "arguments"}: ${message}`);
  const { argumentsText = "" } = call;
  if (keepDigits(argumentsText) !== argumentsText)
    lines.push(
      "A number with more digits than can be kept was read as text: write it in quotes, or with fewer digits.",
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
