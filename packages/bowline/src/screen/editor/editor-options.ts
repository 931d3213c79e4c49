import type { Input } from "../input.ts";
import type { CompletionSource } from "./completion.ts";
import type { DraftFile } from "./draft-file.ts";
import type { Draft } from "./draft.ts";
import type { History } from "./history.ts";
import type { ImagePort } from "./image-port.ts";
import type { MenuColours } from "./menu-rows.ts";

export interface EditorOptions {
  readonly history: History;
  readonly completions?: readonly CompletionSource[];
  /** Saves the draft as it is typed. */
  readonly drafts?: DraftFile;
  readonly images?: ImagePort;
  readonly colours?: MenuColours;
  /** Called when something changes without a key: files were listed, an image was read. */
  readonly onChange?: () => void;
  /** Tells the person something that has no place in the draft, in one line. */
  readonly onNotice?: (notice: string) => void;
}

/** The meaning of a key for the conversation. */
export type EditorResult =
  | { readonly type: "submit"; readonly draft: Draft }
  /** Alt-Enter: to be sent after the task. */
  | { readonly type: "queue"; readonly draft: Draft }
  /** Ctrl-O at a folded paste: the whole text, to be shown in a pager. */
  | { readonly type: "view"; readonly title: string; readonly text: string }
  /** The key has no meaning in the editor. */
  | { readonly type: "unused"; readonly input: Input };
