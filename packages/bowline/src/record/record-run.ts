/**
 * Records a run: wraps its ports, so that every answer from outside goes through the journal and is
 * stored.
 */
import {
  createRecorder,
  createRedactor,
  systemClock,
  toJsonSchema,
  type AgentTool,
} from "@bowline/core";
import type { RunPorts, RunSetup } from "./run-setup.ts";
import type { Through } from "./kept-writes.ts";
import type { RecordedCall, RecordedResult, RecordedTool, RunRecording } from "./file.ts";
import { inTurn, journalClock, journalFetch, writeJournal, type Journal } from "./journal.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Content = Omit<RunRecording, "kind" | "version">;

export interface RunRecorder {
  /** The given ports, wrapped. */
  readonly ports: RunPorts;
  /** Every write of a session passes through this. */
  readonly through: Through;
  /** Records an interrupt and calls `abort` in its turn. */
  interrupt(abort: () => void): void;
  /** Returns everything recorded so far, redacted. */
  content(): Content;
}

/** `secrets` are redacted, and so is the key in `ports`. */
export function recordRun(
  setup: RunSetup,
  ports: RunPorts,
  secrets: readonly string[],
): RunRecorder {
  const journal = writeJournal(systemClock);
  const redact = [...secrets, ports.apiKey ?? ""];
  const recorder = createRecorder({
    mode: "record",
    redact,
    ...(ports.fetch !== undefined && { fetch: ports.fetch }),
  });
  const ids: string[] = [];
  const randoms: number[] = [];
  const verdicts: Mutable<RunRecording["verdicts"]>[number][] = [];
  const calls: Mutable<RecordedCall>[] = [];
  let questions = 0;
  let writes = 0;
  return {
    ports: {
      ...ports,
      tools: ports.tools.map((tool) => recordTool(tool, journal, calls)),
      async beforeToolCall(context, signal) {
        const number = questions++;
        verdicts[number] = null;
        const verdict = await inTurn(journal, `question ${number}`, () =>
          ports.beforeToolCall(context, signal),
        );
        verdicts[number] = verdict ?? null;
        return verdict;
      },
      fetch: journalFetch(journal, recorder.fetch),
      clock: journalClock(journal, systemClock),
      createId: () => noted(ids, crypto.randomUUID()),
      random: () => noted(randoms, Math.random()),
    },
    through: (write) => inTurn(journal, `write ${writes++}`, write),
    interrupt: (abort) => void journal.arrive("interrupt", abort),
    content() {
      const { text, url } = createRedactor(redact);
      const { startedAt, entries } = journal;
      const model = { ...setup.model, baseUrl: url(setup.model.baseUrl) };
      const content = {
        setup: { ...setup, model },
        hadKey: ports.apiKey !== undefined,
        tools: ports.tools.map(describeTool),
        startedAt,
        journal: entries,
        ids,
        randoms,
        verdicts,
        calls,
      };
      const clean = (_: string, value: unknown): unknown =>
        typeof value === "string" ? text(value) : value;
      return {
        ...(JSON.parse(JSON.stringify(content), clean) as Omit<Content, "model">),
        model: recorder.recording,
      };
    },
  };
}

function noted<T>(list: T[], value: T): T {
  list.push(value);
  return value;
}

function describeTool(tool: AgentTool): RecordedTool {
  const { name, description, parameters, label, executionMode, timeoutMs } = tool;
  return {
    name,
    description,
    parameters: toJsonSchema(parameters, `tool "${name}"`),
    ...(label !== undefined && { label }),
    ...(executionMode !== undefined && { executionMode }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

function recordTool(tool: AgentTool, journal: Journal, calls: Mutable<RecordedCall>[]): AgentTool {
  return {
    ...tool,
    execute(toolCallId, params, signal, onUpdate, run) {
      const name = `tool ${calls.length}`;
      const updates: RecordedResult[] = [];
      const call: Mutable<RecordedCall> = { tool: tool.name, updates };
      calls.push(call);
      return inTurn(journal, name, async () => {
        try {
          const result = await tool.execute(
            toolCallId,
            params,
            signal,
            (partial) => {
              const copy = structuredClone(partial); // the tool may change its object later
              updates.push(copy);
              journal.arrive(name, () => onUpdate?.(copy));
            },
            run,
          );
          call.result = structuredClone(result);
          return result;
        } catch (error) {
          call.error = error instanceof Error ? error.message || error.name : String(error);
          throw error;
        }
      });
    },
  };
}
