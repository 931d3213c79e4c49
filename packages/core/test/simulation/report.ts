/**
 * The finding of a check. The number is that of the invariant; `0` marks promises without a number.
 */
export type CheckName =
  | "0 world"
  | "0 result"
  | "0 wire"
  | "1 pairs"
  | "2 terminal event"
  | "2 hangs"
  | "2 timers"
  | "2 abort listeners"
  | "2 unhandled rejection"
  | "2 open stream"
  | "2 state"
  | "3 request"
  | "3 tool"
  | "3 signal"
  | "3 partial answer"
  | "3 queue"
  | "3 grace"
  | "4 error"
  | "5 order"
  | "6 arguments"
  | "6 twice"
  | "6 lost call"
  | "7 replay"
  | "7 stored"
  | "12 strangers"
  | "budget";

export interface Finding {
  readonly check: CheckName;
  readonly text: string;
}

export type Report = (check: CheckName, text: string) => void;
