/**
 * The messages between workers and gateways. What is not exactly one of them is ignored, since
 * anything may arrive on a bus.
 */
import type { EventData, EventName } from "bowline/client";
import type { Frame, RunEventName, RunFrame } from "bowline/engine";
import type { Parcel } from "./parcel.ts";

/** The first item of a head: the kind of message, and the version of the format. */
const EVENT = "e1";
const POSITION = "p1";
const REPLY = "r1";

/** An event of a run. */
export interface LiveEvent extends RunFrame {
  readonly runId: string;
  readonly attempt: number;
  readonly seq: number;
}

/** The last number of an open run: a gateway that has less has lost something. */
export interface LivePosition {
  readonly runId: string;
  readonly attempt: number;
  readonly seq: number;
}

export interface Ask {
  readonly sessionKey: string;
  /** Absent: the open run. */
  readonly runId?: string;
  /** The last number that the asker has. Absent: none. */
  readonly seq?: number;
}

type WaitingMessage = Omit<EventData<"chat.queued">, "runId" | "sessionKey" | "seq">;

/** Tells the worker of a run that a message waits for the run's next step. */
export interface Queued {
  readonly sessionKey: string;
  readonly runId: string;
  readonly queued: WaitingMessage;
}

/** What a worker knows of one run. */
export interface AnsweredRun {
  readonly runId: string;
  readonly attempt: number;
  readonly state: "queued" | "running" | "final" | "error" | "aborted";
  readonly seq: number;
  /** What the asker has missed. */
  readonly frames: readonly LiveEvent[];
}

const names: Readonly<Record<RunEventName, true>> = {
  "chat.user": true,
  "chat.queued": true,
  "chat.delta": true,
  "chat.thinking": true,
  "chat.tool_call": true,
  "tool.progress": true,
  "chat.tool_result": true,
  "chat.turn": true,
  "chat.notice": true,
  "chat.snapshot": true,
  "chat.final": true,
  "chat.error": true,
  "chat.aborted": true,
  "exec.approval_request": true,
  "exec.approval_resolved": true,
};

export function eventHead(run: LivePosition, event: RunEventName): Parcel["head"] {
  return [EVENT, run.runId, run.attempt, run.seq, event];
}

export function positionHead({ runId, attempt, seq }: LivePosition): Parcel["head"] {
  return [POSITION, runId, attempt, seq];
}

/** Returns undefined for another message. */
export function toEvent({ head, body }: Parcel): LiveEvent | undefined {
  const [kind, runId, attempt, seq, event, ...more] = head;
  if (kind !== EVENT || more.length > 0) return undefined;
  if (!isPosition(runId, attempt, seq) || !isName(event)) return undefined;
  const place = { runId: runId as string, attempt: Number(attempt), seq: Number(seq) };
  return { ...place, event, frame: toFrame(place.runId, place.seq, event, body) };
}

/** Returns undefined for another message. */
export function toPosition({ head }: Parcel): LivePosition | undefined {
  const [kind, runId, attempt, seq, ...more] = head;
  if (kind !== POSITION || more.length > 0 || !isPosition(runId, attempt, seq)) return undefined;
  return { runId: runId as string, attempt: Number(attempt), seq: Number(seq) };
}

export function toAsk(payload: Uint8Array): Ask | Queued | undefined {
  const value = parse(new TextDecoder().decode(payload));
  const { sessionKey, runId, seq, queued } = objectIn(value);
  if (typeof sessionKey !== "string") return undefined;
  if (runId !== undefined && typeof runId !== "string") return undefined;
  if (queued !== undefined) return toQueued(sessionKey, runId, objectIn(queued));
  if (seq !== undefined && !Number.isSafeInteger(seq)) return undefined;
  return {
    sessionKey,
    ...(runId !== undefined && { runId }),
    ...(seq !== undefined && { seq: Number(seq) }),
  };
}

function toQueued(
  sessionKey: string,
  runId: string | undefined,
  queued: Readonly<Record<string, unknown>>,
): Queued | undefined {
  const { messageId, kind, text } = queued;
  const isMessage = typeof messageId === "string" && typeof text === "string";
  if (runId === undefined || !isMessage || (kind !== "steer" && kind !== "followUp"))
    return undefined;
  return { sessionKey, runId, queued: queued as unknown as WaitingMessage };
}

/**
 * The head and the body of a reply. `id` tells the parts of several replies apart. JSON has no line
 * breaks, so lines separate the items.
 */
export function toReply(id: string, runs: readonly AnsweredRun[]): Parcel {
  const lines = runs.flatMap(({ runId, attempt, state, seq, frames }) => [
    JSON.stringify([runId, attempt, state, seq, frames.length]),
    ...frames.flatMap((one) => [JSON.stringify([one.seq, one.event]), one.frame.json]),
  ]);
  return { head: [REPLY, id], body: lines.join("\n") };
}

/** Returns undefined for anything that is not a whole reply. */
export function fromReply({ head, body }: Parcel): AnsweredRun[] | undefined {
  if (head[0] !== REPLY || head.length !== 2) return undefined;
  const lines = body === "" ? [] : body.split("\n");
  const runs: AnsweredRun[] = [];
  for (let at = 0; at < lines.length;) {
    const run = arrayIn(lines[at++]);
    const [runId, attempt, state, seq, count] = run;
    if (!isPosition(runId, attempt, seq) || !isState(state)) return undefined;
    if (!(Number.isSafeInteger(count) && Number(count) >= 0)) return undefined;
    const place = { runId: runId as string, attempt: Number(attempt) };
    const frames: LiveEvent[] = [];
    for (let index = 0; index < Number(count); index++) {
      const [own, event] = arrayIn(lines[at++]);
      const json = lines[at++];
      if (!Number.isSafeInteger(own) || !isName(event) || json === undefined) return undefined;
      const frame = toFrame(place.runId, Number(own), event, json);
      frames.push({ ...place, seq: Number(own), event, frame });
    }
    runs.push({ ...place, state, seq: Number(seq), frames });
  }
  return runs;
}

/** Only a slow client needs the data of a delta, to join it with others. It is parsed when needed. */
function toFrame(runId: string, seq: number, event: RunEventName, json: string): Frame {
  if (event !== "chat.delta" && event !== "chat.thinking") return { json, runId, seq };
  return {
    json,
    runId,
    seq,
    event,
    get delta() {
      return (JSON.parse(json) as { data: EventData<"chat.delta"> }).data;
    },
  };
}

function isPosition(runId: unknown, attempt: unknown, seq: unknown): boolean {
  return (
    typeof runId === "string" &&
    Number.isSafeInteger(attempt) &&
    Number(attempt) >= 0 &&
    Number.isSafeInteger(seq) &&
    Number(seq) >= -1
  );
}

function isName(event: unknown): event is RunEventName {
  return typeof event === "string" && Object.hasOwn(names, event);
}

const states = ["queued", "running", "final", "error", "aborted"] as const;

function isState(state: unknown): state is AnsweredRun["state"] {
  return states.some((known) => known === state);
}

export function isEnd(event: EventName): boolean {
  return event === "chat.final" || event === "chat.error" || event === "chat.aborted";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function arrayIn(line: string | undefined): readonly unknown[] {
  const value = line === undefined ? undefined : parse(line);
  return Array.isArray(value) ? value : [];
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
