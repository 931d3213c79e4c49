/**
 * Asks a person before a tool changes anything. The question shows exactly what will run. Any
 * answer but yes means no.
 */
import type { Approver } from "../record/run-setup.ts";
import { needsApproval } from "../tools/index.ts";
import { escapeLines, escapeText } from "../escape.ts";
import type { Terminal } from "./ask.ts";
import { askKey } from "./ask-key.ts";
import type { Style } from "../terminal.ts";

export interface ApproverOptions {
  /** `--yes`: allow everything. */
  readonly yes: boolean;
  /** Where to ask; absent if there is no terminal. */
  readonly terminal?: Terminal;
  readonly style: Style;
  /** Called when Ctrl-C is pressed at the question. */
  readonly onInterrupt: () => void;
}

const verbs: Readonly<Record<string, string>> = { write: "write a file", edit: "change a file" };

/** A small terminal: the size assumed when the real one is unknown or larger. */
const SCREEN = { rows: 20, columns: 80 };

const withoutTerminal =
  "Denied: there is no terminal to ask on. Starting bowline with --yes would allow it.";

export function createApprover({ yes, terminal, style, onInterrupt }: ApproverOptions): Approver {
  const always = new Set<string>();
  return async ({ toolCall: { name }, args }, signal) => {
    if (yes || always.has(name) || !needsApproval(name)) return undefined;
    if (terminal === undefined) return { block: true, reason: withoutTerminal };
    const call = describe(name, args);
    const show = (): void =>
      void terminal.output.write(
        `\n${style.bold(`${name} wants to ${verbs[name] ?? "run"}:`)}\n${call}\n${noteOn(call, terminal, style)}`,
      );
    show();
    let isInterrupted = false;
    const interrupt = (): void => {
      isInterrupted = true;
      onInterrupt();
    };
    const question = { terminal, onInterrupt: interrupt, signal, onContinue: show };
    const answer = await askKey(`Allow? [y]es, [a]lways ${name}, [N]o: `, "yan", question);
    if (answer === "a" || answer === "always") always.add(name);
    if (["y", "yes", "a", "always"].includes(answer)) return undefined;
    if (isInterrupted || signal?.aborted === true)
      return { block: true, reason: "Not run: the run was interrupted before an answer." };
    return { block: true, reason: "Denied: the person at the terminal said no." };
  };
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
