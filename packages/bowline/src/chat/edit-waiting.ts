/**
 * Edits one waiting message in the draft. The draft in progress is set aside meanwhile, and comes
 * back. Nothing that was typed is lost: the two are saved together, and an interrupt joins them.
 */
import type { Draft } from "../screen/editor/draft.ts";
import type { Editor } from "../screen/editor/editor.ts";
import { joinDrafts } from "../screen/editor/join-drafts.ts";
import type { WaitMoment, Waiting, WaitingMessage } from "./waiting.ts";
import { missingText } from "./waiting-text.ts";

export interface EditHost {
  readonly editor: Editor;
  readonly waiting: Waiting;
  readonly hint: (text: string) => void;
  /** Returns whether a run or other work goes on, so that messages wait. */
  readonly isBusy: () => boolean;
  /** Sends a held message again: to its place, or at once if nothing works. */
  readonly sendAgain: (item: WaitingMessage, draft: Draft, moment: WaitMoment) => void;
  /** Removes a held message. */
  readonly drop: (item: WaitingMessage) => void;
  /** Called when the edited message is another one. */
  readonly changed: () => void;
}

export class EditWaiting {
  readonly #host: EditHost;
  #id: number | undefined;

  constructor(host: EditHost) {
    this.#host = host;
  }

  /** The id of the message that is edited. */
  get id(): number | undefined {
    return this.#item()?.id;
  }

  /** Edits the message before the current one, or the last. Returns false if none waits. */
  previous(): boolean {
    const { items } = this.#host.waiting;
    const at = items.findIndex(({ id }) => id === this.id);
    const item = at < 0 ? items.at(-1) : items[at - 1];
    if (item !== undefined) this.edit(item.id);
    return items.length > 0;
  }

  /** Edits the message after the current one; after the last, the draft. */
  next(): boolean {
    const { items } = this.#host.waiting;
    const at = items.findIndex(({ id }) => id === this.id);
    if (at < 0) return false;
    const item = items[at + 1];
    if (item === undefined) this.leave();
    else this.edit(item.id);
    return true;
  }

  /** Takes a message into the draft. Says so if it cannot. */
  edit(id: number): void {
    const { waiting, editor, hint, changed } = this.#host;
    if (id === this.id) return;
    const item = waiting.hold(id);
    if (typeof item === "string") return hint(missingText(id, item));
    if (this.id === undefined) editor.aside = editor.draft();
    else this.#putBack(editor.draft());
    this.#id = id;
    editor.set(item.draft);
    changed();
  }

  /** Sends the edited message; `isOther` changes its moment. */
  submit(draft: Draft, isOther: boolean): void {
    const item = this.#item();
    if (item === undefined) return;
    this.#id = undefined;
    this.#host.sendAgain(item, draft, isOther ? other(item.moment) : item.moment);
    this.#bringBack();
  }

  /** Puts the message back, with its changes or as it was, and goes on with the draft. */
  leave(isAsItWas = false): void {
    const { editor, isBusy, drop, hint } = this.#host;
    const item = this.#item();
    if (item === undefined) return;
    if (isBusy()) {
      this.#putBack(isAsItWas ? undefined : editor.draft());
      return this.#bringBack();
    }
    // Nothing takes messages now.
    this.#id = undefined;
    const draft = isAsItWas || editor.isEmpty ? item.draft : editor.draft();
    drop(item);
    const aside = this.#takeAside();
    editor.set(joinDrafts([draft, aside]));
    hint("The run has ended: the message is in the draft.");
  }

  /** Removes the edited message. Returns false if none is edited. */
  remove(): boolean {
    const { editor, drop, hint } = this.#host;
    const item = this.#item();
    if (item === undefined) return false;
    this.#id = undefined;
    if (!editor.isEmpty) editor.clear();
    drop(item);
    this.#bringBack();
    hint(`Message ${item.id} is removed. It is in the history: Up brings it back.`);
    return true;
  }

  /** Ends the edit, for messages that go back to the draft. Returns its text, and the draft. */
  end(): { readonly id: number | undefined; readonly edited: Draft; readonly draft: Draft } {
    const { editor } = this.#host;
    const { id } = this;
    this.#id = undefined;
    const edited = editor.draft();
    return { id, edited, draft: id === undefined ? edited : this.#takeAside() };
  }

  #item(): WaitingMessage | undefined {
    const item = this.#id === undefined ? undefined : this.#host.waiting.find(this.#id);
    return typeof item === "object" ? item : undefined;
  }

  /** A message that was emptied stays as it was: only a key for that removes it. */
  #putBack(draft: Draft | undefined): void {
    const item = this.#item();
    this.#id = undefined;
    if (item === undefined) return;
    const kept = draft === undefined || draft.text.trim() === "" ? item.draft : draft;
    this.#host.sendAgain(item, kept, item.moment);
  }

  #bringBack(): void {
    this.#host.editor.set(this.#takeAside());
    this.#host.changed();
  }

  #takeAside(): Draft {
    const { editor } = this.#host;
    const { aside } = editor;
    editor.aside = undefined;
    return aside ?? joinDrafts([]);
  }
}

function other(moment: WaitMoment): WaitMoment {
  switch (moment) {
    case "steering":
      return "followUp";
    case "followUp":
      return "steering";
    case "early":
      return "early";
  }
}
