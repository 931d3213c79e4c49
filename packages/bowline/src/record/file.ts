/** The file of a recorded run: its task and all answers from outside. Never contains a key. */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type {
  BeforeToolCallResult,
  Recording,
  Tool,
  ToolExecutionMode,
  UserContent,
} from "@bowline/core";
import type { RunSetup } from "./run-setup.ts";
import type { JournalEntry } from "./journal.ts";

const KIND = "bowline run";
const VERSION = 1;

export interface RunRecording {
  readonly kind: typeof KIND;
  readonly version: typeof VERSION;
  readonly setup: RunSetup;
  /** Whether a key was used. The key itself is not recorded. */
  readonly hadKey: boolean;
  readonly tools: readonly RecordedTool[];
  readonly startedAt: number;
  readonly journal: readonly JournalEntry[];
  readonly ids: readonly string[];
  readonly randoms: readonly number[];
  /** The decision before each tool call; null allowed the call. */
  readonly verdicts: readonly (BeforeToolCallResult | null)[];
  /** The tool executions, in the order of their start. */
  readonly calls: readonly RecordedCall[];
  readonly model: Recording;
}

/** A tool as declared to the model and the loop. */
export interface RecordedTool extends Tool {
  readonly label?: string;
  readonly executionMode?: ToolExecutionMode;
  readonly timeoutMs?: number;
}

/** One execution of a tool. Without a result or an error, it had not ended when the run did. */
export interface RecordedCall {
  readonly tool: string;
  readonly updates: readonly RecordedResult[];
  readonly result?: RecordedResult;
  /** The message of the thrown error. */
  readonly error?: string;
}

export interface RecordedResult {
  readonly content?: UserContent[];
  readonly details?: unknown;
  readonly isError?: boolean;
  readonly terminate?: boolean;
}

/**
 * Writes the file atomically, readable by its owner only, since files and answers may be private.
 * Synchronous, so that an exiting process can call it.
 */
export function saveRunRecording(
  path: string,
  recording: Omit<RunRecording, "kind" | "version">,
): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const whole: RunRecording = { kind: KIND, version: VERSION, ...recording };
    writeFileSync(temporary, `${JSON.stringify(whole)}\n`, { mode: 0o600, flag: "wx" });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Throws an error whose message continues the file's name. */
export function loadRunRecording(path: string): RunRecording {
  const value = parse(readFileSync(path, "utf8"));
  if (!isRecord(value) || value.kind !== KIND) throw new Error("is not a recording of bowline run");
  if (value.version !== VERSION)
    throw new Error(
      `has version ${JSON.stringify(value.version)}; this bowline replays version ${VERSION}`,
    );
  const broken = Object.entries(parts).find(([name, fits]) => !fits(value[name]));
  if (broken !== undefined) throw new Error(`is damaged: ${broken[0]} is missing or wrong`);
  return value as unknown as RunRecording;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("is not JSON");
  }
}

type Check = (value: unknown) => boolean;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

const isSession: Check = (value) =>
  isRecord(value) &&
  isRecord(value.header) &&
  isText(value.header.id) &&
  listOf(isRecord)(value.entries);

/**
 * Checks of the fields that a replay reads. The model's exchanges are checked when they are played
 * back.
 */
const parts: Readonly<Record<Exclude<keyof RunRecording, "kind" | "version">, Check>> = {
  setup: (value) =>
    isRecord(value) &&
    isText(value.task) &&
    isText(value.systemPrompt) &&
    isText(value.thinking) &&
    listOf(isRecord)(value.images) &&
    (value.files === undefined || listOf(isRecord)(value.files)) &&
    isRecord(value.budget) &&
    (value.retryMs === undefined || isNumber(value.retryMs)) &&
    isRecord(value.model) &&
    isText(value.model.api) &&
    isText(value.model.baseUrl) &&
    (value.session === undefined || isSession(value.session)),
  hadKey: (value) => typeof value === "boolean",
  tools: listOf((tool) => isRecord(tool) && isText(tool.name) && isRecord(tool.parameters)),
  startedAt: isNumber,
  journal: listOf((entry) => Array.isArray(entry) && isText(entry[0]) && isNumber(entry[1])),
  ids: listOf(isText),
  randoms: listOf(isNumber),
  verdicts: listOf((verdict) => verdict === null || isRecord(verdict)),
  calls: listOf((call) => isRecord(call) && isText(call.tool) && listOf(isRecord)(call.updates)),
  model: isRecord,
};
