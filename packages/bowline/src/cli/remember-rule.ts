/** Asks which rule to remember for a call, and for how long. */
import { CommandError } from "../command-error.ts";
import { escapeText } from "../escape.ts";
import type { JudgedCall, Permissions, RuleScope } from "../policy/permissions.ts";
import { RuleError } from "../policy/rule-text.ts";
import type { Style } from "../terminal.ts";
import { ask, type Terminal } from "./ask.ts";

export interface RememberOptions {
  readonly permissions: Permissions;
  readonly call: JudgedCall;
  readonly terminal: Terminal;
  readonly style: Style;
  readonly onInterrupt: () => void;
  readonly signal: AbortSignal | undefined;
}

const scopes: Readonly<Record<string, RuleScope>> = {
  s: "session",
  session: "session",
  p: "project",
  project: "project",
  u: "user",
  user: "user",
};

/** Tries before a rule that cannot be used is taken for a no. */
const MAX_TRIES = 3;

/**
 * Returns true if a rule was added that allows the call. A number takes a suggestion; any other
 * answer is the text of a rule.
 */
export async function rememberRule(options: RememberOptions): Promise<boolean> {
  const { permissions, call, terminal, style, onInterrupt, signal } = options;
  const answerTo = (question: string): Promise<string> =>
    ask(question, terminal, onInterrupt, signal);
  const say = (line: string): void => void terminal.output.write(`  ${line}\n`);
  const suggestions = permissions.suggest(call);
  for (const [at, { rule, also }] of suggestions.entries())
    say(`${at + 1}  ${escapeText(rule)}  ${style.dim(`also allows: ${escapeText(also)}`)}`);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const given = await answerTo("Number of the rule, or its text (empty: no): ");
    if (given === "") return false;
    const rule = /^\d+$/.test(given) ? suggestions[Number(given) - 1]?.rule : given;
    if (rule === undefined) {
      say(`There is no rule ${given}.`);
      continue;
    }
    const where = await answerTo("For this [s]ession, the [p]roject or the [u]ser (empty: no): ");
    const scope = scopes[where.toLowerCase()];
    if (scope === undefined) return false;
    try {
      await permissions.add(rule, "allow", scope);
    } catch (error) {
      if (!(error instanceof RuleError || error instanceof CommandError)) throw error;
      say(escapeText(error.message));
      continue;
    }
    const { action, reason } = permissions.judge(call);
    if (action === "allow") return true;
    say(`The rule is remembered, but does not allow this call. ${escapeText(reason)}`);
  }
  return false;
}
