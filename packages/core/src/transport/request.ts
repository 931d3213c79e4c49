/** A POST request and its options. */
import type { Clock } from "../clock.ts";

export interface PostRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** A JSON text. */
  readonly body: string;
}

/**
 * The content of a chunk: `progress` for content, `alive` for keep-alives only, `complete` for the
 * end of the answer, after which the body is not needed.
 */
export type ChunkVerdict = "progress" | "alive" | "complete";

export interface PostOptions {
  /**
   * `fetch` does not report the connection, so it cannot be timed separately. Node's gives up
   * connecting after 10 s and waiting for headers after 300 s; both are reported as `timeout`. The
   * one of node/undici.ts waits longer.
   */
  // Q235, Q236
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /**
   * Asks for a new connection, for use after a connection broke. Node's `fetch` opens a new one by
   * then anyway, and Bun's does because of this option. Deno's may reuse another pooled one, and
   * browsers decide themselves.
   */
  // Q230
  readonly fresh: boolean;
  /** The model's id, for error messages. */
  readonly model: string;
  /**
   * In milliseconds, up to the response headers, including connecting and redirects; 0 means no
   * limit.
   */
  readonly firstByteMs: number;
  /** In milliseconds, between two chunks; 0 means no limit. */
  readonly idleMs: number;
  /**
   * In milliseconds, between two chunks with content; 0 means no limit. Error responses have no
   * content.
   */
  readonly progressMs: number;
  /** In milliseconds, from `begunAt` to the end of the answer; 0 means no limit. */
  readonly totalMs: number;
  /** When the call began, on the monotonic clock. The same for all its tries. */
  readonly begunAt: number;
  readonly onResponse?:
    | ((response: { status: number; headers: Record<string, string> }) => unknown)
    | undefined;
  readonly onChunk: (chunk: Uint8Array) => ChunkVerdict;
}
