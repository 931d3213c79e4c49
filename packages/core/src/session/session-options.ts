/** The options of a session, of a new one and of a fork. */
import { randomId, systemClock, type Clock } from "../clock.ts";
import type { SessionHeader } from "./entry.ts";

export interface SessionOptions {
  /** Default: the system's clock. */
  readonly clock?: Clock | undefined;
  /** Makes the ids of entries and of sessions. Default: random UUIDs. */
  readonly createId?: (() => string) | undefined;
}

/** Options of a new session. */
export interface NewSession {
  /** Default: `createId()`. */
  readonly id?: string | undefined;
  /** Default: none; for a fork, the metadata of the original session. */
  readonly metadata?: SessionHeader["metadata"] | undefined;
}

export interface ForkOptions extends NewSession {
  /** The last entry that the fork shares with the original session. Default: the head. */
  readonly at?: string | undefined;
}

export interface ContextOptions {
  /** The id of a `compaction` entry that is taken as undone. Default: none. */
  readonly without?: string | undefined;
}

/** The header of a session that is created. */
export function newHeader(
  options: SessionOptions & NewSession,
  origin?: SessionHeader["origin"],
): SessionHeader {
  const { clock = systemClock, createId = randomId, id = createId(), metadata } = options;
  return { id, createdAt: clock.now(), ...(origin && { origin }), ...(metadata && { metadata }) };
}
