/** What the editor can complete, and what is being completed at the cursor. */

export interface CompletionItem {
  readonly name: string;
  readonly detail?: string | undefined;
}

export interface Completions {
  /** The best items first. */
  readonly items: readonly CompletionItem[];
  /** The number of all matches. */
  readonly total: number;
  /** True while the source is still collecting names. */
  readonly isListing: boolean;
  /** Says that names are missing, and why. */
  readonly notice?: string | undefined;
}

/** Names that follow a mark: "/" at the start of a draft, "@" at the start of a word. */
export interface CompletionSource {
  readonly trigger: "/" | "@";
  /** Returns at once, from the names that are known. */
  find(query: string, limit: number): Completions;
  /** Called when the menu opens. `onChange` tells that there are more names. */
  open?(onChange: () => void): void;
  /** Returns the text that replaces the mark and the query. */
  textFor(item: CompletionItem): string;
}

export interface CompletionToken {
  readonly trigger: "/" | "@";
  readonly start: number;
  readonly query: string;
}

/** A longer word is not completed. */
const MAX_TOKEN = 1000;

/** Returns the token that ends at the cursor. A shell line, which begins with "!", has none. */
export function tokenAt(text: string, cursor: number): CompletionToken | undefined {
  if (text.startsWith("!")) return undefined;
  const before = text.slice(Math.max(0, cursor - MAX_TOKEN), cursor);
  const command = cursor <= MAX_TOKEN ? /^\/(\S*)$/.exec(before) : null;
  if (command !== null) return { trigger: "/", start: 0, query: command[1] ?? "" };
  const file = /(?:^|\s)@(?:"((?:[^"\\\n]|\\.)*)|([^\s"]*))$/.exec(before);
  if (file === null) return undefined;
  const quoted = file[1];
  const mark = quoted === undefined ? `@${file[2] ?? ""}` : `@"${quoted}`;
  const query = quoted === undefined ? (file[2] ?? "") : quoted.replace(/\\(.)/g, "$1");
  return { trigger: "@", start: cursor - mark.length, query };
}
