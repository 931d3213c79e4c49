/** The gateway's limits and timeouts. */
import type { Limits } from "./frame.ts";

export interface GatewayLimits extends Limits {
  readonly maxConnections: number;
  /** Connections without a valid token, out of `maxConnections`. */
  readonly maxStrangers: number;
  /** Time limit from the connection to the auth frame, in milliseconds. */
  readonly authTimeoutMs: number;
  /**
   * Wrong tokens from one address per minute. Further attempts are refused until the minute is
   * over.
   */
  readonly maxAuthFailures: number;
  /** Unanswered requests of one connection. */
  readonly maxPendingRequests: number;
  /** Consecutive frames that are not requests. */
  readonly maxBadFrames: number;
  /** Concurrent runs of all sessions. */
  readonly maxRuns: number;
  /** Buffered events of each run for resending, and their length in characters. */
  readonly maxReplayEvents: number;
  readonly maxReplayLength: number;
  /**
   * How long ended runs are cached, in milliseconds, and how many, and their size together. Other
   * ended runs are read from their session.
   */
  readonly keepEndedMs: number;
  readonly maxEnded: number;
  readonly maxEndedBytes: number;
  readonly approvalTimeoutMs: number;
  /** Time limit of one run, in milliseconds. */
  readonly runTimeoutMs: number;
  readonly maxTurns: number;
  /** How often a run is restarted after its server crashed. Clean shutdowns do not count. */
  readonly maxRestarts: number;
  /** Time for the close handshake of a socket, in milliseconds. */
  readonly closeGraceMs: number;
}

export const defaultLimits: GatewayLimits = {
  maxFrameBytes: 1024 * 1024,
  maxAuthFrameBytes: 64 * 1024,
  maxBufferedBytes: 4 * 1024 * 1024,
  tickIntervalMs: 15_000,
  maxQueuedRuns: 20,
  maxMessageLength: 32_000,
  maxAttachments: 4,
  maxAttachmentBytes: 640 * 1024,
  maxConnections: 2000,
  maxStrangers: 200,
  authTimeoutMs: 10_000,
  maxAuthFailures: 20,
  maxPendingRequests: 64,
  maxBadFrames: 20,
  maxRuns: 64,
  maxReplayEvents: 4000,
  maxReplayLength: 512 * 1024,
  keepEndedMs: 5 * 60_000,
  maxEnded: 500,
  maxEndedBytes: 32 * 1024 * 1024,
  approvalTimeoutMs: 30 * 60_000,
  runTimeoutMs: 2 * 60 * 60_000,
  maxTurns: 100,
  maxRestarts: 3,
  closeGraceMs: 5000,
};
