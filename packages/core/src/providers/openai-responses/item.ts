/** An output item while its events come. */
import type { Part } from "./parts.ts";

type Json = Record<string, unknown>;

const kinds = ["message", "reasoning", "function_call"] as const;
export type Kind = (typeof kinds)[number] | "opaque";

export interface Item {
  readonly kind: Kind;
  /** The item as it began, then as it ended. */
  raw: Json;
  readonly position: unknown;
  /** Whether its beginning came, and not only a piece of it. */
  begun: boolean;
  done: boolean;
  /** Of a message, by `content_index`. */
  readonly texts: Map<unknown, Part>;
  /** Of any other item. */
  readonly part: Part | undefined;
  /** Of reasoning: the sections so far; where in the text the last one begins. */
  readonly sections: Set<unknown>;
  section: unknown;
  from: number;
}

export function kindOf(type: unknown): Kind {
  return kinds.find((kind) => kind === type) ?? "opaque"; // server tools and what is yet to come (Q190)
}
