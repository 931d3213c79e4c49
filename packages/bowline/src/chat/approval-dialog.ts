/**
 * The question whether a call may run. It stands above the draft, which stays usable. The second
 * step edits the rule that would be remembered.
 */
import type { Input } from "../screen/input.ts";
import type { Colours } from "../screen/colours.ts";
import { wrapStyled } from "../screen/text/wrap.ts";
import type { RuleScope as Scope } from "../policy/permissions.ts";
import { oneLine, printable } from "../terminal.ts";
import { callTitle } from "./tool-lines.ts";
import { choiceRows, firstRow, SafeChoice } from "./safe-choice.ts";
import type { Asked } from "./state.ts";

export type ApprovalAnswer =
  | { readonly decision: "deny"; readonly by: string; readonly withDraft: boolean }
  | {
      readonly decision: "allow";
      readonly by: string;
      readonly remember?: { readonly rule: string; readonly scope: Scope };
    };

export type DialogResult =
  | { readonly type: "used" }
  | { readonly type: "pass"; readonly typed: string }
  | { readonly type: "answer"; readonly answer: ApprovalAnswer };

type Choice =
  | { readonly type: "no" }
  | { readonly type: "yes" }
  | { readonly type: "remember"; readonly rule: string; readonly also: string }
  | { readonly type: "no_with_draft" };

interface EditedRule {
  rule: string;
  /** The rule before it was edited, of which `also` tells. */
  readonly suggested: string;
  readonly also: string;
  scope: Scope;
  readonly keys: string;
}

const scopes: readonly Scope[] = ["session", "project", "user"];
const scopeWords: Readonly<Record<Scope, string>> = {
  session: "this session",
  project: "this project",
  user: "you, in every folder",
};

/** Suggested rules beyond this number are left out. */
const MAX_RULES = 3;

export class ApprovalDialog {
  readonly asked: Asked;
  readonly #choice: SafeChoice;
  #edited: EditedRule | undefined;
  /** Why the rule was refused. */
  #problem = "";

  constructor(asked: Asked, now: number, typedAt: number) {
    this.asked = asked;
    this.#choice = new SafeChoice(now, typedAt);
  }

  input(input: Input, now: number, hasDraft: boolean): DialogResult {
    if (this.#edited !== undefined) return this.#edit(input, now);
    const choices = this.#choices(hasDraft);
    const result = this.#choice.input(input, now, choices.length, hasDraft);
    if (result.type !== "chosen") return result;
    const choice = choices[result.index];
    const by = this.#by(result.keys, now);
    if (choice?.type === "remember") {
      const { rule, also } = choice;
      this.#edited = { rule, suggested: rule, also, scope: "session", keys: result.keys };
      return { type: "used" };
    }
    if (choice?.type === "yes") return { type: "answer", answer: { decision: "allow", by } };
    const withDraft = choice?.type === "no_with_draft";
    return { type: "answer", answer: { decision: "deny", by, withDraft } };
  }

  /** Shows why a rule could not be saved. The question stays open. */
  refuse(problem: string): void {
    this.#problem = problem;
  }

  /** Draws at most `maxRows`, of which the focus is one. */
  draw(
    columns: number,
    hasDraft: boolean,
    now: number,
    colours: Colours,
    maxRows: number,
  ): string[] {
    const { bold, red } = colours;
    const { toolName, args, change } = this.asked;
    // The change is shown above, line by line.
    const call = change === undefined ? callTitle(toolName, args) : `${toolName} ${change.path}`;
    const text = oneLine(`Allow ${call}?`, 160);
    const title = wrapStyled(bold(text), columns);
    const problem =
      this.#problem === "" ? [] : wrapStyled(red(oneLine(this.#problem, 400)), columns);
    const choices = (rows?: number): string[] =>
      this.#edited === undefined
        ? choiceRows(
            this.#choices(hasDraft).map(labelOf),
            this.#choice.focus,
            columns,
            colours,
            rows,
          )
        : this.#ruleRows(this.#edited, columns, colours, rows);
    const whole = [...title, ...choices(), ...this.#keyRows(now, columns, colours), ...problem];
    if (whole.length <= maxRows) return whole;
    const head = [firstRow(title, columns)];
    const foot = problem.slice(0, 1);
    return [...head, ...choices(maxRows - head.length - foot.length), ...foot];
  }

  #choices(hasDraft: boolean): Choice[] {
    const rules = this.asked.suggestions.slice(0, MAX_RULES);
    return [
      { type: "no" },
      { type: "yes" },
      ...rules.map(({ rule, also }) => ({ type: "remember", rule, also }) as const),
      ...(hasDraft ? [{ type: "no_with_draft" } as const] : []),
    ];
  }

  #keyRows(now: number, columns: number, { dim }: Colours): string[] {
    const ready = this.#choice.isReady(now)
      ? "arrow or digit, then Enter; Esc interrupts; text goes to the draft"
      : "keys answer after a pause without typing";
    const editing =
      "type to edit the rule, Tab changes for whom, Enter saves and allows, Esc goes back";
    return wrapStyled(dim(this.#edited === undefined ? ready : editing), columns);
  }

  /** With too little room, the end of the rule stays, where it is edited. */
  #ruleRows(
    { rule, suggested, also, scope }: EditedRule,
    columns: number,
    { bold }: Colours,
    maxRows = Infinity,
  ): string[] {
    const edited = wrapStyled(`Allow from now on: ${bold(printable(rule))}_`, columns);
    const allowed =
      rule.trim() === suggested ? also : "edited: it allows every call that it covers";
    const more = allowed === "" ? "" : `; ${oneLine(allowed, 300)}`;
    const forWhom = wrapStyled(`for ${bold(scopeWords[scope])}${more}`, columns);
    if (edited.length + forWhom.length <= maxRows) return [...edited, ...forWhom];
    return [...edited.slice(-Math.max(1, maxRows - 1)), firstRow(forWhom, columns)];
  }

  #edit(input: Input, now: number): DialogResult {
    const edited = this.#edited;
    if (edited === undefined) return { type: "used" };
    this.#problem = "";
    if (input.type === "text" || input.type === "paste") {
      edited.rule += printable(input.text).replace(/\s+/g, " ");
      return { type: "used" };
    }
    const { name, ctrl, alt } = input;
    if (name === "enter") return this.#save(edited, now);
    if (ctrl || alt) return { type: "pass", typed: "" };
    if (name === "space") edited.rule += " ";
    else if (name === "backspace") edited.rule = Array.from(edited.rule).slice(0, -1).join("");
    else if (name === "escape") this.#edited = undefined;
    else if (name === "tab")
      edited.scope = scopes[(scopes.indexOf(edited.scope) + 1) % scopes.length] ?? "session";
    return { type: "used" };
  }

  #save({ rule, scope, keys }: EditedRule, now: number): DialogResult {
    const by = this.#by(`${keys}, Enter`, now);
    const remember = { rule: rule.trim(), scope };
    return { type: "answer", answer: { decision: "allow", by, remember } };
  }

  /** Says who answered, by which keys and after how long. */
  #by(keys: string, now: number): string {
    return `terminal (${keys}; after ${(this.#choice.openFor(now) / 1000).toFixed(1)} s)`;
  }
}

function labelOf(choice: Choice): string {
  switch (choice.type) {
    case "no":
      return "No";
    case "yes":
      return "Yes";
    case "remember":
      return `Yes, and allow ${oneLine(choice.rule, 200)} from now on…`;
    case "no_with_draft":
      return "No, and tell the model what is typed below";
  }
}
