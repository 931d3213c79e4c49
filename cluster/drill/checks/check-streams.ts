/**
 * What each client received is what is stored: each event once and in order, up to one end, and folded it is
 * the transcript.
 */
import { differences, foldMessages } from "../clients/folded-run.ts";
import type { RunStream } from "../clients/run-stream.ts";
import type { Evidence, Finding } from "../evidence.ts";
import { runsIn, type StoredRun } from "./stored-run.ts";

const endOf = {
  done: "chat.final",
  budget: "chat.final",
  length: "chat.final",
  aborted: "chat.aborted",
};

export function checkStreams({ sessions, streams, aborts }: Evidence): Finding[] {
  const runs = new Map(sessions.map(({ key, entries }) => [key, runsIn(entries)]));
  const aborted = new Set(aborts.map(({ session, runId }) => `${session} ${runId}`));
  return streams.flatMap((stream) => {
    const { client, session, runId } = stream;
    const run = runs.get(session)?.get(runId);
    const isAborted = aborted.has(`${session} ${runId}`);
    const texts = [...stream.faults, ...compare(stream, run, isAborted)];
    return texts.map((text) => ({
      check: "streams",
      session,
      text: `${client}, run ${runId}: ${text}`,
    }));
  });
}

function compare(stream: RunStream, run: StoredRun | undefined, isAborted: boolean): string[] {
  const { end, isOwn, fold, seq } = stream;
  if (end === undefined) {
    // An observer that came between two runs may know nothing of one.
    return isOwn || seq >= 0 ? [`there is no end; the last event was ${seq}`] : [];
  }
  if (run === undefined)
    // A run that was cancelled before it began leaves no trace.
    return isAborted && end.event === "chat.aborted"
      ? []
      : [`it ended as ${end.event} and is not stored`];
  const reason = run.ends[0]?.reason;
  const expected = endOf[reason as keyof typeof endOf] ?? "chat.error";
  const wrong =
    end.event === expected ? [] : [`it ended as ${end.event}, and the run as ${reason}`];
  return [...wrong, ...differences(fold, foldMessages(run.messages))];
}
