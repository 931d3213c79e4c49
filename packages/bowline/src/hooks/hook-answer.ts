/**
 * Reads what a hook answered by its exit code and its output, in Claude Code's terms. An answer never
 * allows what the permissions would not: `allow` has no effect.
 */
import type { HookEvent } from "../settings/keys.ts";
import { didYouMean } from "../settings/nearest-name.ts";
import { isRecord, show } from "../settings/shapes.ts";

export interface HookEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface HookAnswer {
  /**
   * Why something is refused: the call, the message, or the end of the run. After a tool has run, what
   * the model is told.
   */
  readonly block?: string;
  /** Why a person must be asked. */
  readonly ask?: string;
  /** Text for the model. */
  readonly context?: string;
  /** Text for the person. */
  readonly message?: string;
  /** What went wrong, for the person. */
  readonly failure?: string;
}

const MAX_TEXT = 10_000;

/** Events at which a hook can refuse something that has not happened yet. */
const guards: ReadonlySet<HookEvent> = new Set(["PreToolUse", "UserPromptSubmit"]);

const notBlocked: Readonly<Record<HookEvent, string>> = {
  PreToolUse: " The call was NOT blocked: only exit code 2 blocks.",
  UserPromptSubmit: " The message was NOT blocked: only exit code 2 blocks.",
  PostToolUse: "",
  Stop: " The end was NOT blocked: only exit code 2 blocks.",
  SessionStart: "",
};

export function readAnswer(event: HookEvent, end: HookEnd): HookAnswer {
  const { exitCode, signal, stdout } = end;
  const stderr = end.stderr.trim().slice(0, MAX_TEXT);
  if (exitCode === 2) {
    const reason = stderr === "" ? "The hook gave no reason." : stderr;
    // A session cannot be refused.
    return event === "SessionStart"
      ? { failure: `it ended with exit code 2: ${reason}` }
      : { block: reason };
  }
  if (exitCode !== 0) {
    const how = signal === null ? `it ended with exit code ${exitCode}` : `${signal} ended it`;
    return { failure: `${how}.${notBlocked[event]}${stderr === "" ? "" : ` It said: ${stderr}`}` };
  }
  const text = stdout.trim();
  if (text.startsWith("{")) return readJsonAnswer(event, text);
  const isContext = event === "UserPromptSubmit" || event === "SessionStart";
  return text === "" || !isContext ? {} : { context: text.slice(0, MAX_TEXT) };
}

/** An answer that is not understood may have been a refusal, so it counts as one where that is possible. */
function notUnderstood(event: HookEvent, why: string): HookAnswer {
  const failure = `its answer is not understood: ${why}`;
  if (!guards.has(event)) return { failure };
  return {
    failure: `${failure} It counts as a refusal.`,
    block: `A hook's answer is not understood: ${why}`,
  };
}

const fields = [
  "continue",
  "stopReason",
  "suppressOutput",
  "systemMessage",
  "decision",
  "reason",
  "hookSpecificOutput",
];
const specificFields = [
  "hookEventName",
  "permissionDecision",
  "permissionDecisionReason",
  "updatedInput",
  "additionalContext",
];

function readJsonAnswer(event: HookEvent, text: string): HookAnswer {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return notUnderstood(event, "it begins with { and is no JSON.");
  }
  const answer = isRecord(given) ? given : {};
  const specific = isRecord(answer.hookSpecificOutput) ? answer.hookSpecificOutput : {};
  const why =
    unknownIn(answer, fields) ??
    unknownIn(specific, specificFields) ??
    whyNot(event, answer, specific);
  if (why !== undefined) return notUnderstood(event, why);
  const message = textOf(answer.systemMessage);
  const context = textOf(specific.additionalContext);
  return {
    ...decisionOf(event, answer, specific),
    ...(message !== undefined && { message }),
    ...(context !== undefined && event !== "Stop" && { context }),
  };
}

function decisionOf(
  event: HookEvent,
  answer: Readonly<Record<string, unknown>>,
  { permissionDecision, permissionDecisionReason }: Readonly<Record<string, unknown>>,
): HookAnswer {
  const reason =
    textOf(permissionDecisionReason) ?? textOf(answer.reason) ?? "The hook gave no reason.";
  // At the end of a run it means that the run may end.
  if (answer.continue === false && event === "Stop") return {};
  if (answer.continue === false) return { block: textOf(answer.stopReason) ?? reason };
  if (permissionDecision === "deny" || answer.decision === "block") return { block: reason };
  return permissionDecision === "ask" ? { ask: reason } : {};
}

function unknownIn(
  given: Readonly<Record<string, unknown>>,
  known: readonly string[],
): string | undefined {
  const unknown = Object.keys(given).find((field) => !known.includes(field));
  return unknown === undefined
    ? undefined
    : `It has the unknown field ${show(unknown)}.${didYouMean(unknown, known)}`;
}

const decisions = ["allow", "deny", "ask"];

/** Returns why a known field has no meaning here. */
function whyNot(
  event: HookEvent,
  { decision, hookSpecificOutput, ...answer }: Readonly<Record<string, unknown>>,
  specific: Readonly<Record<string, unknown>>,
): string | undefined {
  const { hookEventName, permissionDecision, updatedInput } = specific;
  if (hookSpecificOutput !== undefined && !isRecord(hookSpecificOutput))
    return "hookSpecificOutput takes an object.";
  if (hookEventName !== undefined && hookEventName !== event)
    return `It is for the event ${show(hookEventName)}.`;
  if (decision !== undefined && decision !== "block" && decision !== "approve")
    return `decision takes "block" or "approve", not ${show(decision)}.`;
  if (permissionDecision !== undefined) {
    if (event !== "PreToolUse") return `${event} has no permissionDecision.`;
    if (!decisions.some((known) => known === permissionDecision))
      return `permissionDecision takes "allow", "deny" or "ask", not ${show(permissionDecision)}.`;
  }
  if (updatedInput !== undefined)
    return "updatedInput is not supported: a call runs as it was shown.";
  if (answer.continue !== undefined && typeof answer.continue !== "boolean")
    return `continue takes true or false, not ${show(answer.continue)}.`;
  if (answer.continue === false && (event === "PostToolUse" || event === "SessionStart"))
    return `continue: false has no effect at ${event}.`;
  return undefined;
}

function textOf(given: unknown): string | undefined {
  return typeof given === "string" && given.trim() !== ""
    ? given.trim().slice(0, MAX_TEXT)
    : undefined;
}
