/** Sends the draft, performs it as a command or a line of the shell, or keeps it. */
import { draftOf, wholeText, type Draft } from "../screen/editor/draft.ts";
import type { Editor } from "../screen/editor/editor.ts";
import { joinDrafts } from "../screen/editor/join-drafts.ts";
import type { Moment } from "./block.ts";
import { parseShellLine, type ShellLine } from "./shell-line.ts";
import type { Work } from "./work.ts";

interface TypedHost {
  readonly editor: Editor;
  readonly work: Pick<Work, "edit" | "send">;
  readonly isPlain: () => boolean;
  notice(text: string): void;
  /** Performs a line that begins with a slash. */
  command(line: string): void;
  shell(line: ShellLine): void;
}

export class Typed {
  readonly #host: TypedHost;

  constructor(host: TypedHost) {
    this.#host = host;
  }

  /** Sends what was typed, or puts the message that is edited back. */
  enter(draft: Draft, moment: Moment): void {
    const { editor, work } = this.#host;
    const { edit } = work;
    const text = wholeText(draft);
    const isMessage = !text.startsWith("/") && parseShellLine(text) === undefined;
    if (isMessage && edit.id !== undefined) return edit.submit(draft, moment === "followUp");
    // A command says nothing about the message, which stays as it was.
    edit.leave(true);
    const { aside } = editor;
    if (!isMessage || aside === undefined) return this.#submit(draft, moment);
    editor.aside = undefined;
    work.send(joinDrafts([aside, draft]), moment);
  }

  /** Puts a draft before the text that is being typed. A plain screen has no draft that could be edited. */
  set(draft: Draft): void {
    const { editor, isPlain } = this.#host;
    if (!isPlain()) editor.set(joinDrafts([draft, editor.draft()]));
    else if (!draft.text.startsWith("/"))
      editor.aside = joinDrafts([editor.aside ?? draftOf([]), draft]);
  }

  /** Takes the draft as the reason of a denial. */
  take(): string {
    const { editor } = this.#host;
    const text = wholeText(editor.draft());
    editor.clear();
    return text;
  }

  /** Drops messages that were given back on a plain screen. Returns false if there are none. */
  dropAside(): boolean {
    const { editor, isPlain } = this.#host;
    const { aside } = editor;
    if (!isPlain() || aside === undefined) return false;
    editor.aside = undefined;
    editor.set(aside);
    editor.clear();
    this.#host.notice("Dropped. The next message goes out alone.");
    return true;
  }

  #submit(draft: Draft, moment: Moment): void {
    const text = wholeText(draft);
    if (text.trim() === "" && draft.images.length === 0) return;
    if (text.startsWith("/")) return this.#host.command(text);
    const line = parseShellLine(text);
    if (line === undefined) this.#host.work.send(draft, moment);
    else this.#host.shell(line);
  }
}
