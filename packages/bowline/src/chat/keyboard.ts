/** Gives each key its effect: on a question, on the conversation, or in the draft. */
import type { Draft } from "../screen/editor/draft.ts";
import type { Editor } from "../screen/editor/editor.ts";
import type { Input } from "../screen/input.ts";
import { printable } from "../terminal.ts";
import type { Moment } from "./block.ts";
import type { Chat } from "./chat.ts";
import type { EditWaiting } from "./edit-waiting.ts";
import { actionOf, type KeyAction } from "./keys.ts";
import type { Question } from "./question.ts";

export interface KeyboardHost {
  readonly editor: Editor;
  readonly now: () => number;
  /** The question that is open. */
  readonly question: () => Question | undefined;
  readonly chat: Chat & { interrupt(): void };
  /** The waiting message that is edited. */
  readonly edit: Pick<EditWaiting, "id" | "previous" | "next" | "remove">;
  /** Drops messages that were given back on a plain screen. Returns false if there are none. */
  dropAside(): boolean;
  submit(draft: Draft, moment: Moment): void;
  /** Performs a line that begins with a slash. */
  command(line: string): void;
}

export class Keyboard {
  readonly #host: KeyboardHost;
  #typedAt = 0;
  /** True after the first of two Ctrl-C that leave. */
  #isLeaving = false;

  constructor(host: KeyboardHost) {
    this.#host = host;
  }

  /** When somebody typed or edited last. */
  get typedAt(): number {
    return this.#typedAt;
  }

  input(input: Input): void {
    const { chat } = this.#host;
    const now = this.#host.now();
    const action = actionOf(input);
    if (action !== "clear_or_leave") this.#isLeaving = false;
    if (chat.state.hint !== undefined) chat.dispatch({ type: "hint", text: undefined });
    if (action === "suspend") return chat.screen.suspend();
    if (!this.#ask(input, now) && !this.#act(action)) this.#edit(input, now);
    chat.screen.invalidate();
  }

  /** Gives a key to the open question. Returns true if the key had its effect there. */
  #ask(input: Input, now: number): boolean {
    const result = this.#host.question()?.input(input, now, !this.#host.editor.isEmpty);
    if (result === undefined) return false;
    if (result.type === "used") return true;
    if (result.typed !== "") this.#edit({ type: "text", text: result.typed }, now);
    return false;
  }

  /** Returns false if the key belongs to the editor. */
  #act(action: KeyAction | undefined): boolean {
    const { editor, chat } = this.#host;
    switch (action) {
      case undefined:
      case "suspend":
        return false;
      case "interrupt":
        if (editor.isMenuOpen || !chat.isBusy) return false;
        chat.interrupt();
        return true;
      case "clear_or_leave":
        if (editor.isMenuOpen) return false;
        this.#clearOrLeave();
        return true;
      case "leave":
        if (!editor.isEmpty || this.#host.edit.id !== undefined) return false;
        chat.leave();
        return true;
      case "plan":
        chat.setPlan(!chat.state.isPlan);
        return true;
      case "edit_previous":
        return this.#host.edit.previous();
      case "edit_next":
        return this.#host.edit.next();
      case "remove":
        return this.#host.edit.remove();
      case "unfold":
        return false; // the editor shows a folded paste first
    }
  }

  #clearOrLeave(): void {
    const { editor, chat } = this.#host;
    if (chat.isBusy) return chat.interrupt();
    if (this.#host.edit.remove() || this.#host.dropAside()) return;
    if (!editor.isEmpty) {
      editor.clear();
      const text = "The draft is in the history: Up brings it back.";
      return chat.dispatch({ type: "hint", text });
    }
    if (this.#isLeaving) return chat.leave();
    this.#isLeaving = true;
    chat.dispatch({ type: "hint", text: "Ctrl-C again leaves." });
  }

  #edit(input: Input, now: number): void {
    if (input.type !== "key" || isEditing(input.name)) this.#typedAt = now;
    const host = this.#host;
    const result = host.editor.input(input);
    if (result === undefined) return;
    switch (result.type) {
      case "submit":
        return host.submit(result.draft, "steering");
      case "queue":
        return host.submit(result.draft, "followUp");
      case "view":
        void this.#page(result.title, result.text);
        return;
      case "unused":
        if (actionOf(result.input) === "unfold") host.command("/unfold");
    }
  }

  async #page(title: string, text: string): Promise<void> {
    const { page } = await import("../screen/pager.ts");
    await page(this.#host.chat.screen, title, printable(text).split("\n"));
  }
}

/** Keys with which somebody works on the draft, besides text. */
function isEditing(name: string): boolean {
  return name.length === 1 || name === "backspace" || name === "delete" || name === "space";
}
