/** Ports that answer a run from its recording: without network, tools, questions or a clock. */
import { createRecorder, isBowlineError, systemClock, type AgentTool } from "@bowline/core";
import type { RunPorts } from "./run-setup.ts";
import type { Through } from "./kept-writes.ts";
import type { RecordedCall, RecordedTool, RunRecording } from "./file.ts";
import { inTurn, journalClock, journalFetch, readJournal, type JournalReader } from "./journal.ts";

export interface RunReplay {
  readonly ports: RunPorts;
  readonly journal: JournalReader;
  /** Every write of a session passes through this. */
  readonly through: Through;
  /** Calls `abort` at each recorded interrupt. */
  onInterrupt(abort: () => void): void;
}

/** Throws like `createRecorder` for invalid exchanges. */
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
  /** Ends the replay when the recording has no answer, since it cannot continue. */
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
      // The recording's placeholder for the key, so that errors that quote the key read the same.
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
        return new Promise(() => {}); // the replay's caller ends it
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
