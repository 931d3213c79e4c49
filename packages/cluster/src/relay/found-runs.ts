/** What a gateway found of the runs that a client is about to follow. */
import type { RunInfo } from "bowline/client";
import type { RunFrame, StoredRun } from "bowline/engine";
import type { AnsweredRun, LiveEvent } from "../wire/messages.ts";
import type { RelayPorts } from "./relay-ports.ts";
import type { SessionRelay } from "./session-relay.ts";
import type { Tap } from "./tap.ts";

/** What is sent to a client that follows one or two runs. */
export interface Found {
  readonly answers: readonly AnsweredRun[];
  /** Runs that no worker answered for. */
  readonly stored: readonly { readonly info: RunInfo; readonly frames: readonly RunFrame[] }[];
}

export interface StoredQuestion {
  readonly session: SessionRelay;
  readonly tap: Tap;
  /** Runs that no worker answered for. */
  readonly wanted: readonly string[];
  /** The run that the client asks for, and the last number that it has. */
  readonly runId: string | undefined;
  readonly seq: number | undefined;
}

/** Reads runs from the stored session. */
export async function storedRuns(
  { read, cancelled }: Pick<RelayPorts, "read" | "cancelled">,
  { session, tap, wanted, runId, seq }: StoredQuestion,
): Promise<Found["stored"]> {
  const { sessionKey } = session;
  const stored = await read(sessionKey);
  const found: Found["stored"][number][] = [];
  for (const id of wanted) {
    const run = stored.run(id) ?? (await cancelled(sessionKey, id));
    if (run === undefined) continue;
    const isOpen = run.info.state === "running";
    if (isOpen) session.withdraw(id, tap);
    else session.settle(id, run);
    const own = id === runId ? seq : undefined;
    // A client that has live events has more than what is stored of a run without an end.
    const isBehind = own === undefined || own < 0 || !isOpen;
    found.push({ info: run.info, frames: isBehind ? run.since(own) : [] });
  }
  return found;
}

/** Returns the open runs of which neither a worker nor the stored session knows. */
export function waitingRuns(
  open: readonly StoredRun[],
  { session, runId, seq }: StoredQuestion,
  known: readonly { readonly runId: string }[],
): Found["stored"] {
  return open
    .filter(({ info }) => !known.some((one) => one.runId === info.runId))
    .map((run) => {
      const { info } = run;
      // Its end is noticed then, also if nothing is heard of it.
      if (info.state === "queued") session.note(info);
      return { info, frames: info.runId === runId ? run.since(seq) : [] };
    });
}

export function infosOf(
  { answers, stored }: Found,
  sessionKey: string,
  session: SessionRelay,
): RunInfo[] {
  const known = [
    ...answers.map(({ runId, state, seq }): RunInfo => ({ runId, sessionKey, state, seq })),
    ...stored.map(({ info }) => info),
  ];
  const queued = session.expected.flatMap((runId): RunInfo[] =>
    known.some((info) => info.runId === runId)
      ? []
      : [{ runId, sessionKey, state: "queued", seq: -1 }],
  );
  return [...known, ...queued];
}

/** What was found, and then what was passed on since. */
export function missedOf({ answers, stored }: Found, since: readonly LiveEvent[]): RunFrame[] {
  const last = new Map<string, number>();
  for (const { runId, seq, state } of [...answers, ...stored.map(({ info }) => info)])
    last.set(runId, state === "running" || state === "queued" ? seq : Infinity);
  const isNew = ({ runId, seq }: LiveEvent): boolean => seq > (last.get(runId) ?? -2);
  return [
    ...answers.flatMap(({ frames }) => frames),
    ...stored.flatMap(({ frames }) => frames),
    ...since.filter(isNew),
  ].map(({ frame, event }) => ({ frame, event }));
}
