/**
 * Asks a person before a tool changes anything, unless a rule decides. The question shows exactly
 * what will run. Any answer but yes means no.
 */
import type { Approver } from "../record/run-setup.ts";
import { cutText, escapeLines, escapeText } from "../escape.ts";
import { createPermissions, type JudgedCall, type Permissions } from "../policy/permissions.ts";
import type { Terminal } from "./ask.ts";
import { askKey } from "./ask-key.ts";
import { rememberRule } from "./remember-rule.ts";
import type { Style } from "../terminal.ts";

export interface ApproverOptions {
  /** `--yes`: allow everything that no rule denies. */
  readonly yes: boolean;
  /** Default: the built-in rules. */
  readonly permissions?: Permissions;
  /** Where to ask; absent if there is no terminal. */
  readonly terminal?: Terminal;
  readonly style: Style;
  /** Called when Ctrl-C is pressed at the question. */
  readonly onInterrupt: () => void;
}

const verbs: Readonly<Record<string, string>> = { write: "write a file", edit: "change a file" };

/** A small terminal: the size assumed when the real one is unknown or larger. */
const SCREEN = { rows: 20, columns: 80 };

const MAX_PARTS = 10;
const MAX_REASON = 300;

const withoutTerminal =
  "Denied: there is no terminal to ask on. A rule that allows it, or starting bowline with --yes, would allow it.";

export function createApprover(options: ApproverOptions): Approver {
  const { yes, terminal, style, onInterrupt, permissions = createPermissions() } = options;
  return async ({ toolCall: { name }, args, approve }, signal, asked) => {
    const allow = (): undefined => {
      approve?.();
      return undefined;
    };
    const call: JudgedCall = { tool: name, args };
    const { action, parts, ...verdict } = permissions.judge(call);
    const reason = asked === undefined || action === "deny" ? verdict.reason : asked;
    if (action === "deny") return { block: true, reason: `Denied: ${short(reason)}` };
    if ((action === "allow" && asked === undefined) || yes) return allow();
    if (terminal === undefined) return { block: true, reason: withoutTerminal };
    const shown = describe(name, args);
    const why = `${partsLine(parts)}  ${short(reason)}`;
    const suggestions = permissions.suggest(call);
    const show = (): void =>
      void terminal.output.write(
        `\n${style.bold(`${escapeText(name)} wants to ${verbs[name] ?? "run"}:`)}\n${shown}\n${noteOn(shown, terminal, style)}${style.dim(why)}\n`,
      );
    show();
    let isInterrupted = false;
    const interrupt = (): void => {
      isInterrupted = true;
      onInterrupt();
    };
    const isRulable = suggestions.length > 0;
    const answer = await askKey(
      `Allow? [y]es${isRulable ? ", yes and [r]emember a rule" : ""}, [N]o: `,
      isRulable ? "yrn" : "yn",
      { terminal, onInterrupt: interrupt, signal, onContinue: show },
    );
    if (isYes(answer)) return allow();
    if (isRulable && ["r", "remember"].includes(answer)) {
      const person = { terminal, style, onInterrupt: interrupt, signal };
      if (await rememberRule({ ...person, permissions, call })) return allow();
    }
    if (isInterrupted || signal?.aborted === true)
      return { block: true, reason: "Not run: the run was interrupted before an answer." };
    return { block: true, reason: "Denied: the person at the terminal said no." };
  };
}

/** The call itself is shown in full, so its parts may be cut. */
function partsLine(parts: readonly string[]): string {
  if (parts.length < 2) return "";
  const more = parts.length > MAX_PARTS ? `  |  ${parts.length - MAX_PARTS} more` : "";
  return `  Parts: ${parts.slice(0, MAX_PARTS).map(short).join("  |  ")}${more}\n`;
}

function short(text: string): string {
  return cutText(escapeText(text), MAX_REASON);
}

function isYes(answer: string): boolean {
  return answer === "y" || answer === "yes";
}

/** Returns a hint for a call that is too long for the screen, since a person sees only its end. */
function noteOn(call: string, { output }: Terminal, { bold }: Style): string {
  const columns = Math.min(SCREEN.columns, output.columns || SCREEN.columns);
  const rows = call
    .split("\n")
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
  return rows > Math.min(SCREEN.rows, output.rows || SCREEN.rows)
    ? `${bold(`These are ${rows} lines. Scroll up to read the first ones.`)}\n`
    : "";
}

/** Returns the width in columns, rounded up: characters that may be wide count twice. */
function widthOf(line: string): number {
  return line.length + (line.match(/[\u1100-\uffff]/g)?.length ?? 0);
}

/** Formats the exact input for reading. */
function describe(name: string, args: unknown): string {
  const { command, path, content, oldText, newText, ...rest } = args as Record<string, unknown>;
  const lines: string[] = [];
  if (typeof command === "string") lines.push(...marked("$", command));
  if (typeof path === "string") lines.push(`  ${escapeText(path)}`);
  if (typeof content === "string") lines.push(...marked("+", content.replace(/\n$/, "")));
  if (typeof oldText === "string") lines.push(...marked("-", oldText));
  if (typeof newText === "string") lines.push(...marked("+", newText));
  if (Object.keys(rest).length > 0) lines.push(`  ${escapeText(JSON.stringify(rest))}`);
  return lines.length > 0 ? lines.join("\n") : `  ${name}`;
}

function marked(mark: string, text: string): string[] {
  return escapeLines(text)
    .split("\n")
    .map((line) => `  ${mark} ${line}`);
}
