/** An output item while its events arrive. */
import type { Part } from "./parts.ts";

type Json = Record<string, unknown>;

const kinds = ["message", "reasoning", "function_call"] as const;
export type Kind = (typeof kinds)[number] | "opaque";

export interface Item {
  readonly kind: Kind;
  /** The item as it started, later as it ended. */
  raw: Json;
  readonly position: unknown;
  /** Whether its start event arrived. False if only a piece did. */
  begun: boolean;
  done: boolean;
  /** The texts of a message, by `content_index`. */
  readonly texts: Map<unknown, Part>;
  /** The part of any item other than a message. */
  readonly part: Part | undefined;
  /** For reasoning: the sections so far, and where the last one starts in the text. */
  readonly sections: Set<unknown>;
  section: unknown;
  from: number;
}

export function kindOf(type: unknown): Kind {
  // Server tools, and types of later versions (Q190).
  return kinds.find((kind) => kind === type) ?? "opaque";
}
