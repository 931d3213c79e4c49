/** What a gateway knows of one run besides its {@link RunTrack}. */
import type { StoredRun } from "bowline/engine";
import { isEnd, type AnsweredRun, type LiveEvent } from "../wire/messages.ts";
import { RunTrack } from "./run-track.ts";

/** The most ended runs that are remembered while a session is followed. */
const MAX_ENDED = 64;

export interface Tracked {
  readonly track: RunTrack;
  /** Whether the database was asked if the run is over. */
  isChecked: boolean;
  isConfirming: boolean;
  check: Promise<void> | undefined;
  sync: Promise<void> | undefined;
  heardAt: number;
  /** Called when the position changes. */
  readonly moved: Set<() => void>;
  /** Events of a run whose message has no response yet. Undefined: they are passed on at once. */
  gate: LiveEvent[] | undefined;
}

export function trackRun(runId: string, now: number): Tracked {
  return {
    track: new RunTrack(runId),
    isChecked: false,
    isConfirming: false,
    check: undefined,
    sync: undefined,
    heardAt: now,
    moved: new Set(),
    gate: undefined,
  };
}

/** A worker's run whose end is not stored is still open. */
export function withoutEnd(answer: AnsweredRun): AnsweredRun {
  const frames = answer.frames.filter(({ event }) => !isEnd(event));
  return { ...answer, state: "running", seq: answer.seq - 1, frames };
}

/** Resolves when the run has moved so that `isThere` holds, or when the timer fires. */
export function movedUntil(
  run: Tracked,
  isThere: () => boolean,
  setTimer: (fire: () => void) => () => void,
): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stop();
      run.moved.delete(moved);
      resolve();
    };
    const moved = (): void => {
      if (isThere()) done();
    };
    const stop = setTimer(done);
    run.moved.add(moved);
  });
}

/** Returns whether a run was accepted, or waits, and nothing was heard of it. */
export function isExpected({ track, isChecked }: Tracked): boolean {
  return isChecked && track.position === undefined && track.attempt === 0 && !track.isEnded;
}

/** Forgets ended runs. Late events of a forgotten one are checked again, as those of an unknown one. */
export function forgetEnded(runs: Map<string, Tracked>): void {
  const ended = [...runs].filter(([, { track }]) => track.isEnded);
  for (const [runId] of ended.slice(0, -MAX_ENDED)) runs.delete(runId);
}

/** Returns the events of a stored run, as if its last attempt had sent them. */
export function eventsOf({ track }: Tracked, stored: StoredRun): LiveEvent[] {
  const { runId, attempt } = track;
  return stored
    .since(undefined)
    .map((one) => ({ ...one, runId, attempt, seq: one.frame.seq ?? 0 }));
}
