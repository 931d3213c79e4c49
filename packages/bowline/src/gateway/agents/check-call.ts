/** A check of calls by the application, beside the rules. */

/** A call of a tool. */
export interface CheckedCall {
  readonly sessionKey: string;
  readonly toolName: string;
  readonly toolCallId: string;
  readonly args: unknown;
}

/** Each is a reason: `block` refuses the call, `ask` has a person asked about it. */
export interface CallCheck {
  readonly block?: string;
  readonly ask?: string;
}

export type CheckCall = (
  call: CheckedCall,
  signal: AbortSignal | undefined,
) => Promise<CallCheck> | CallCheck;
