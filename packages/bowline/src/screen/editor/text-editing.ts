/** The commands that need the text, its cursor and the kill ring only. */
import { nextBoundary, previousBoundary } from "./grapheme.ts";
import type { TextCommand } from "./keymap.ts";
import { KillRing } from "./kill-ring.ts";
import { lineEnd, lineStart } from "./line-bounds.ts";
import { TextBuffer } from "./text-buffer.ts";
import { wordEnd, wordStart } from "./word.ts";

type Last = "kill" | "yank" | "other";

export class TextEditing {
  readonly buffer: TextBuffer = new TextBuffer();
  readonly kills: KillRing = new KillRing();
  #last: Last = "other";

  /** Kills that follow each other join, and `yankOlder` works only after a yank. */
  endSequence(): void {
    this.#last = "other";
  }

  insert(text: string): void {
    const { cursor } = this.buffer;
    this.endSequence();
    this.buffer.replace(cursor, cursor, text, "type");
  }

  /** Inserts a text as an edit of its own. */
  insertWhole(text: string): void {
    const { cursor } = this.buffer;
    this.endSequence();
    this.buffer.replace(cursor, cursor, text);
  }

  perform(command: TextCommand): void {
    const last = this.#last;
    this.#last = "other";
    switch (command) {
      case "left":
      case "right":
      case "wordLeft":
      case "wordRight":
      case "lineStart":
      case "lineEnd":
      case "textStart":
      case "textEnd":
        this.buffer.moveTo(this.#target(command));
        break;
      case "deleteBefore":
        this.#delete(this.#target("left"), this.buffer.cursor);
        break;
      case "deleteAfter":
        this.#delete(this.buffer.cursor, this.#target("right"));
        break;
      case "newline":
        this.insert("\n");
        break;
      case "undo":
        this.buffer.undo();
        break;
      case "yank":
        this.#yank(this.kills.newest());
        break;
      case "yankOlder":
        if (last === "yank") this.#yankOlder();
        break;
      case "killWordBefore":
      case "killBlankBefore":
      case "killWordAfter":
      case "killToStart":
      case "killToEnd":
        this.#kill(command, last === "kill");
        break;
    }
  }

  #target(
    command:
      | "left"
      | "right"
      | "wordLeft"
      | "wordRight"
      | "lineStart"
      | "lineEnd"
      | "textStart"
      | "textEnd",
  ): number {
    const { text, cursor } = this.buffer;
    switch (command) {
      case "left":
        return previousBoundary(text, cursor);
      case "right":
        return nextBoundary(text, cursor);
      case "wordLeft":
        return wordStart(text, cursor, "letters");
      case "wordRight":
        return wordEnd(text, cursor, "letters");
      case "lineStart":
        return lineStart(text, cursor);
      case "lineEnd":
        return lineEnd(text, cursor);
      case "textStart":
        return 0;
      case "textEnd":
        return text.length;
    }
  }

  #delete(start: number, end: number): void {
    this.buffer.replace(start, end, "", "delete");
  }

  #kill(
    command: "killWordBefore" | "killBlankBefore" | "killWordAfter" | "killToStart" | "killToEnd",
    isContinued: boolean,
  ): void {
    const { text, cursor } = this.buffer;
    const side = command === "killWordAfter" || command === "killToEnd" ? "after" : "before";
    const other = killTarget(command, text, cursor);
    const [start, end] = side === "after" ? [cursor, other] : [other, cursor];
    this.kills.add(text.slice(start, end), side, isContinued);
    this.buffer.replace(start, end, "");
    this.#last = "kill";
  }

  #yank(text: string | undefined): void {
    if (text === undefined) return;
    this.insertWhole(text);
    this.#last = "yank";
  }

  /** Replaces what was yanked by the text that was killed before it. */
  #yankOlder(): void {
    const yanked = this.kills.newest() ?? "";
    const older = this.kills.rotate() ?? "";
    const { cursor } = this.buffer;
    this.buffer.replace(cursor - yanked.length, cursor, older);
    this.#last = "yank";
  }
}

/** At the start or end of a line, the line feed is killed. */
function killTarget(
  command: "killWordBefore" | "killBlankBefore" | "killWordAfter" | "killToStart" | "killToEnd",
  text: string,
  cursor: number,
): number {
  switch (command) {
    case "killWordBefore":
      return wordStart(text, cursor, "letters");
    case "killBlankBefore":
      return wordStart(text, cursor, "blank");
    case "killWordAfter":
      return wordEnd(text, cursor, "letters");
    case "killToStart": {
      const start = lineStart(text, cursor);
      return start === cursor ? Math.max(0, cursor - 1) : start;
    }
    case "killToEnd": {
      const end = lineEnd(text, cursor);
      return end === cursor ? Math.min(text.length, cursor + 1) : end;
    }
  }
}
