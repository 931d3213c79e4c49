/**
 * Splits off thinking that a server leaves in the text between `<think>` and `</think>`. Only the
 * start of the text is searched.
 */
// Q087, Q088

export interface TextFilter {
  add(piece: string): void;
  /** Ends the text and writes what is still held. */
  flush(): void;
}

export interface ThinkSink {
  readonly think: (text: string) => void;
  readonly say: (text: string) => void;
}

const opening = "<think>";
const closing = "</think>";
/** How much white space may precede the tag. */
const MAX_MARGIN = 256;

/**
 * Creates a splitter. `split`: a text that begins with the opening tag starts with thinking.
 * `open`: any text starts with thinking, since the server's template wrote the tag; without a
 * closing tag it is all thinking. Tags and the white space after them are dropped.
 */
export function createThinkSplitter(mode: "split" | "open", { think, say }: ThinkSink): TextFilter {
  let state: "start" | "margin" | "thinking" | "gap" | "text" = "start";
  let held = "";
  return {
    add(piece) {
      if (state === "text") return say(piece);
      held += piece;
      while (step());
    },
    flush() {
      const rest = held;
      held = "";
      if (rest === "") return;
      if (state === "thinking") return think(rest);
      state = "text";
      say(rest);
    },
  };

  /** Processes the held text in the current state. Returns whether to call it again. */
  function step(): boolean {
    switch (state) {
      case "start": {
        const text = held.trimStart();
        if (opening.startsWith(text) && text !== opening && held.length < MAX_MARGIN) return false;
        const isTagged = text.startsWith(opening);
        if (isTagged) held = text.slice(opening.length);
        state = isTagged || mode === "open" ? "margin" : "text";
        return true;
      }
      case "margin":
      case "gap":
        held = held.trimStart();
        if (held === "") return false;
        state = state === "gap" ? "text" : "thinking";
        return true;
      case "thinking": {
        const end = held.indexOf(closing);
        const length = end === -1 ? held.length - cutTag(held, closing) : end;
        if (length > 0) think(held.slice(0, length));
        held = held.slice(end === -1 ? length : end + closing.length);
        if (end !== -1) state = "gap";
        return end !== -1;
      }
      case "text":
        say(held);
        held = "";
        return false;
    }
  }
}

/** Returns how many characters at the end of the text may be the start of the tag. */
export function cutTag(text: string, tag: string): number {
  let length = Math.min(tag.length - 1, text.length);
  while (!text.endsWith(tag.slice(0, length))) length--;
  return length;
}
