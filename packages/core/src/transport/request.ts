/** A request to post, and how. */
import type { Clock } from "../clock.ts";

export interface PostRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** JSON. */
  readonly body: string;
}

/**
 * What a chunk brought: content, only signs of life, or the end of the answer (the rest of the body
 * is not wanted).
 */
export type ChunkVerdict = "progress" | "alive" | "complete";

export interface PostOptions {
  /**
   * Connecting is its own affair: it says nothing of it that could be timed apart. Node's
   * gives up connecting after 10 s and waiting for headers after 300 s, which is a `timeout`, too;
   * node/undici.ts waits longer.
   */
  // Q235, Q236
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /**
   * Asks for a connection that no earlier request has used, for after one broke. Node's
   * fetch opens a new one by then in any case, Bun's because of this; Deno's may still take others
   * of its pool, and browsers do as they see fit.
   */
  // Q230
  readonly fresh: boolean;
  /** Named in errors. */
  readonly model: string;
  /** Until the response's headers, redirects and connecting included; 0 is no limit. */
  readonly firstByteMs: number;
  /** Between two chunks; 0 is no limit. */
  readonly idleMs: number;
  /** Between two chunks with content; 0 is no limit. What refuses has none. */
  readonly progressMs: number;
  /** From `begunAt` to the end of the answer; 0 is no limit. */
  readonly totalMs: number;
  /** When the call began, of which this may be a further try. */
  readonly begunAt: number;
  readonly onResponse?:
    | ((response: { status: number; headers: Record<string, string> }) => unknown)
    | undefined;
  readonly onChunk: (chunk: Uint8Array) => ChunkVerdict;
}
