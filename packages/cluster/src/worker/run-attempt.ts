/** One attempt to execute a run. */
export interface RunAttempt {
  readonly sessionKey: string;
  readonly runId: string;
  /** Higher for each attempt at the runs of a session. From 1. */
  readonly attempt: number;
  /**
   * Whether an earlier attempt at this run may have sent events. If so, the attempt's first event is a
   * snapshot.
   */
  readonly isRepeated: boolean;
  /**
   * Whether gateways sent the run's first event, `chat.queued` with the number 0, because its message
   * waited. Default false.
   */
  readonly isAnnounced?: boolean;
}
