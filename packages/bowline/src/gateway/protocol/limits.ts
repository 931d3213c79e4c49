/** The gateway's bounds, and how long it waits for what. */
import type { Limits } from "./frame.ts";

export interface GatewayLimits extends Limits {
  readonly maxConnections: number;
  /** Of those, how many may be without a token yet. */
  readonly maxStrangers: number;
  /** From connecting to the auth frame, in milliseconds. */
  readonly authTimeoutMs: number;
  /** Wrong tokens of one address in a minute; further tries are refused until it is over. */
  readonly maxAuthFailures: number;
  /** Requests of one connection that are being answered. */
  readonly maxPendingRequests: number;
  /** Frames in a row that are no requests. */
  readonly maxBadFrames: number;
  /** Runs that go on at the same time, of all sessions. */
  readonly maxRuns: number;
  /** What is kept of each run to send again: events, and their characters. */
  readonly maxReplayEvents: number;
  readonly maxReplayLength: number;
  /**
   * How long, of how many and of how large ones together, an ended run can be asked for without its
   * session being read.
   */
  readonly keepEndedMs: number;
  readonly maxEnded: number;
  readonly maxEndedBytes: number;
  readonly approvalTimeoutMs: number;
  /** The longest one run may take, in milliseconds. */
  readonly runTimeoutMs: number;
  readonly maxTurns: number;
  /** How often a run is taken up whose server died, not stopped, while it went on. */
  readonly maxRestarts: number;
  /** How long a closed socket may take to go, in milliseconds. */
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
