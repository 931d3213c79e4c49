/**
 * The ports of a recorded run, answered by its recording: no network, no tool, no question, no
 * clock.
 */
import { createRecorder, isBowlineError, systemClock, type AgentTool } from "@bowline/core";
import type { RunPorts } from "./run-setup.ts";
import type { Through } from "./kept-writes.ts";
import type { RecordedCall, RecordedTool, RunRecording } from "./file.ts";
import { inTurn, journalClock, journalFetch, readJournal, type JournalReader } from "./journal.ts";

export interface RunReplay {
  readonly ports: RunPorts;
  readonly journal: JournalReader;
  /** What the writes of a session go through. */
  readonly through: Through;
  /** Calls `abort` wherever the run was interrupted. */
  onInterrupt(abort: () => void): void;
}

/** Throws what `createRecorder` throws for exchanges that are none. */
export function replayRun(recording: RunRecording): RunReplay {
  const {
    startedAt,
    journal: entries,
    ids,
    randoms,
    verdicts,
    calls,
    tools,
    hadKey,
    model,
  } = recording;
  const journal = readJournal(startedAt, entries, systemClock);
  const recorder = createRecorder({ mode: "playback", recording: model });
  /** What the recording has no answer for, it cannot go on from either. */
  const answer: typeof recorder.fetch = async (input, init) => {
    try {
      return await recorder.fetch(input, init);
    } catch (error) {
      if (isBowlineError(error) && error.code === "invalid_state") journal.lose(error.message);
      throw error;
    }
  };
  let questions = 0;
  let id = 0;
  let random = 0;
  let writes = 0;
  let begun = 0;
  const nextCall = (): { readonly number: number; readonly call: RecordedCall | undefined } => {
    const number = begun++;
    return { number, call: calls[number] };
  };
  return {
    ports: {
      tools: tools.map((tool) => replayTool(tool, journal, nextCall)),
      beforeToolCall() {
        const number = questions++;
        return inTurn(journal, `question ${number}`, () => verdicts[number] ?? undefined);
      },
      // What the recording shows in place of a key, so that errors that quote it read the same.
      ...(hadKey && { apiKey: "[redacted]" }),
      fetch: journalFetch(journal, answer),
      clock: journalClock(journal),
      createId: () => ids[id++] ?? `unrecorded-${id}`,
      random: () => randoms[random++] ?? 0,
    },
    journal,
    through: (write) => inTurn(journal, `write ${writes++}`, write),
    onInterrupt: function listen(abort): void {
      journal.arrive("interrupt", () => {
        abort();
        listen(abort);
      });
    },
  };
}

function replayTool(
  tool: RecordedTool,
  journal: JournalReader,
  nextCall: () => { readonly number: number; readonly call: RecordedCall | undefined },
): AgentTool {
  return {
    ...tool,
    async execute(_toolCallId, _params, _signal, onUpdate) {
      const { number, call } = nextCall();
      const name = `tool ${number}`;
      if (call?.tool !== tool.name) {
        journal.lose(`it has no result for this call of ${tool.name}`);
        return new Promise(() => {}); // whoever runs the replay ends it
      }
      for (const update of call.updates) {
        await new Promise<void>((resolve) => {
          journal.arrive(name, () => {
            onUpdate?.(update);
            resolve();
          });
        });
      }
      const { result, error } = call;
      if (result === undefined && error === undefined) return new Promise(() => {}); // it never ended
      return inTurn(journal, name, () => {
        if (result === undefined) throw new Error(error);
        return result;
      });
    },
  };
}
