/**
 * Decides whether a call may run, and with which arguments. The call must be complete, name a known
 * tool, fit its schema, and be allowed.
 */
import { defined, isJson, jsonText, keepDigits, shorten } from "../../json-value.ts";
import type { AssistantMessage, ToolCall } from "../../llm/message.ts";
import {
  isStandardSchema,
  validate,
  type SchemaIssue,
  type ValidationResult,
} from "../../schema.ts";
import type {
  ApprovalQuestion,
  BeforeToolCallContext,
  BeforeToolCallResult,
} from "../contract/hooks.ts";
import type { RunPort } from "../contract/run-port.ts";
import type { AgentTool } from "../contract/tool.ts";
import { failedCall, type SettledCall } from "../contract/tool-result.ts";
import { approvalNeed, unapproved } from "./approval-need.ts";
import { askPerson, type Asking } from "./ask-person.ts";
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

/** The verdict about a call, JSON-safe when it is read from a record. */
type Verdict =
  | { readonly settled: SettledCall }
  | {
      /** The validated arguments. Absent if JSON cannot represent them. */
      readonly args?: unknown;
      /** The arguments before their last validation. */
      readonly given?: unknown;
      /** The call runs if a person allows it. */
      readonly ask?: ApprovalQuestion;
    };

/**
 * Returns the call with its validated arguments, or the result of a call that a hook or a person
 * blocked. When the call may not run, throws an error whose message tells the model what to do
 * instead.
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
  // Clone, because hooks and tools may change the arguments, and the transcript must not change.
  const prepare = (): unknown => {
    const raw = structuredClone(call.arguments);
    return tool.prepareArguments?.(raw) ?? raw;
  };
  if (!isJudged(run, tool))
    return { call, tool, args: await check(run, { call, tool }, prepare()) };
  let own: { readonly args: unknown } | undefined;
  const verdict = await run.decide<Verdict>(`ask:${run.turns}:${call.id}`, async (port) => {
    const judged = await judge(run, message, { call, tool, args: prepare() }, port);
    if ("settled" in judged) return judged;
    own = judged;
    const { args, given, ask } = judged;
    return { ...(isJson(args) ? { args } : isJson(given) && { given }), ...defined({ ask }) };
  });
  if ("settled" in verdict) return verdict.settled;
  const denied = verdict.ask && (await askPerson(asking(run), call, verdict.ask));
  if (denied !== undefined) return failedCall(denied);
  if (own ?? "args" in verdict) return { call, tool, args: (own ?? verdict).args };
  return { call, tool, args: await check(run, { call, tool }, verdict.given ?? prepare()) };
}

function asking(run: Run): Asking {
  const { port, signal } = run;
  return { ...port, now: () => run.now(), signal };
}

/** Returns whether user code decides about calls of the tool. */
function isJudged({ config }: Run, tool: AgentTool): boolean {
  return (
    isStandardSchema(tool.parameters) ||
    config.beforeToolCall !== undefined ||
    tool.needsApproval !== undefined ||
    tool.prepareArguments !== undefined
  );
}

/** Validates arguments. Throws an error that tells the model what does not fit. */
async function check(
  run: Run,
  { call, tool }: Omit<Ready, "args">,
  given: unknown,
): Promise<unknown> {
  const checked = await run.grace.patiently<ValidationResult>(
    validate(tool.parameters, given, `tool "${tool.name}"`),
  );
  if (checked.issues) throw new Error(invalidArguments(call, checked.issues));
  return checked.value;
}

/** The arguments before and after their validation. */
interface Judged {
  readonly given: unknown;
  readonly args: unknown;
  readonly ask: ApprovalQuestion | undefined;
}

/** Validates the arguments, and asks the hooks. With `ask`, the rest assumes that a person allows. */
async function judge(
  run: Run,
  message: AssistantMessage,
  { call, tool, args: given }: Ready,
  port: RunPort,
): Promise<Judged | { readonly settled: SettledCall }> {
  const args = await check(run, { call, tool }, given);
  const { beforeToolCall } = run.config;
  if (!beforeToolCall && tool.needsApproval === undefined) return { given, args, ask: undefined };
  const before = jsonText(args);
  const needsApproval = await approvalNeed(run, tool, call, args, port);
  let approved: { readonly text: string | undefined } | undefined;
  const approve = (allowed: unknown = args): void => void (approved = { text: jsonText(allowed) });
  const isRecorded = run.asksItself || undefined;
  const about = {
    ...aboutCall(run, message, call, args, port),
    ...defined({ needsApproval, isRecorded }),
    approve,
  };
  const verdict =
    (await run.grace.patiently<BeforeToolCallResult | undefined | void>(
      beforeToolCall?.(about, run.signal),
    )) ?? {};
  const ask = isRecorded && verdict.ask;
  if (ask) approve(ask.args);
  else if (verdict.block) {
    const blocked = failedCall(verdict.reason || "Tool execution was blocked");
    const { terminate } = verdict;
    return { settled: { ...blocked, result: { ...blocked.result, ...defined({ terminate }) } } };
  }
  // Validate arguments again if the hook replaced or mutated them.
  const { args: edited = args } = ask ?? verdict;
  const after = jsonText(edited);
  const isSame = after === before;
  const checked = isSame ? args : await check(run, { call, tool }, edited);
  // An approval is valid only for the arguments that were shown.
  if (!approved || approved.text !== after) {
    const need = isSame ? needsApproval : await approvalNeed(run, tool, call, checked, port);
    const changed = approved && "its arguments were changed after the approval";
    const why = beforeToolCall ? "it was not given" : "there is no way to ask for it";
    if (need !== undefined) throw new Error(unapproved(call, need, changed ?? why));
  }
  return { given: isSame ? given : edited, args: checked, ask };
}

/** Returns the context that the hooks around a tool receive. */
export function aboutCall(
  run: Run,
  assistantMessage: AssistantMessage,
  toolCall: ToolCall,
  args: unknown,
  port: RunPort,
): BeforeToolCallContext {
  const { context } = run;
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
