/** The gateway's limits and timeouts. */
import type { Limits } from "./frame.ts";

export interface GatewayLimits extends Limits {
  /** Concurrent connections. Default 2,000. */
  readonly maxConnections: number;
  /** Connections without a valid token, out of `maxConnections`. Default 200. */
  readonly maxStrangers: number;
  /** Time limit from the connection to the auth frame, in milliseconds. Default 10,000. */
  readonly authTimeoutMs: number;
  /**
   * Wrong tokens from one address per minute. Further attempts are refused until the minute is
   * over. Default 20.
   */
  readonly maxAuthFailures: number;
  /** Unanswered requests of one connection. Default 64. */
  readonly maxPendingRequests: number;
  /**
   * Consecutive frames that are not requests. Above it the server closes the socket. Default 20.
   */
  readonly maxBadFrames: number;
  /** Concurrent runs of all sessions. Further runs wait. Default 64. */
  readonly maxRuns: number;
  /** Events of each run that are buffered for resending. Default 4,000. */
  readonly maxReplayEvents: number;
  /** Length of those events in characters. Default 524,288. */
  readonly maxReplayLength: number;
  /**
   * How long ended runs are cached, in milliseconds. Other ended runs are read from their session.
   * Default 300,000.
   */
  readonly keepEndedMs: number;
  /** The maximum number of cached ended runs. Default 500. */
  readonly maxEnded: number;
  /** The maximum size of all cached runs, in bytes. Default 33,554,432. */
  readonly maxEndedBytes: number;
  /**
   * Time limit for an answer to an approval, in milliseconds. Then the call is denied. Default
   * 1,800,000.
   */
  readonly approvalTimeoutMs: number;
  /** Time limit of one run, in milliseconds. Default 7,200,000. */
  readonly runTimeoutMs: number;
  /** Model calls of one run. Default 100. */
  readonly maxTurns: number;
  /**
   * How often a run is restarted after its server crashed. Clean shutdowns do not count. Default 3.
   */
  readonly maxRestarts: number;
  /** Time for the close handshake of a socket, in milliseconds. Default 5,000. */
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
