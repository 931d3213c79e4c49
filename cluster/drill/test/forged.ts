/** Evidence of a cluster that did everything right, for tests that forge one fault into it. */
import type { AssistantMessage, ToolResultMessage } from "@bowline/core";
import type { AnyEntry, EntryBody } from "@bowline/core/session";
import type { EventFrame } from "bowline/client";
import { RunStream, type RunFrame } from "../clients/run-stream.ts";
import type { AuditRow, Evidence, SentMessage } from "../evidence.ts";
import { resultOf, toolCallId, type ModelCall, type ToolUse } from "../outside/ledger.ts";
import { asideText, textOf, type Task } from "../task.ts";

export const SESSION = "s0";
export const RUN = "run-s0-0";
const NOW = 1_700_000_000_000;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
export type Forged = Mutable<Evidence>;

const task: Task = { name: "s0-0", turns: [["n", "s", "a"]], words: 2, isUncounted: false };
const never = { id: toolCallId(1, 0), name: "never" };
const safe = { id: toolCallId(1, 1), name: "safe" };
const asks = { id: toolCallId(1, 2), name: "asks" };
const calls = [never, safe, asks];

function answer(number: number, text: string, ids: typeof calls): AssistantMessage {
  return {
    role: "assistant",
    content: [
      { type: "text", text },
      ...ids.map(({ id, name }) => ({
        type: "toolCall" as const,
        id,
        name,
        arguments: { id, ms: 1 },
      })),
    ],
    api: "openai-chat",
    provider: "mock",
    model: "mock",
    usage: { input: 1000 + number, output: 2, totalTokens: 1002 + number },
    stopReason: ids.length > 0 ? "toolUse" : "stop",
    timestamp: NOW,
  };
}

export function result(
  { id, name }: { readonly id: string; readonly name: string },
  text: string,
): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: id,
    toolName: name,
    content: [{ type: "text", text }],
    isError: false,
    timestamp: NOW,
  };
}

const texts = { first: "[1] s0-0.0 heard s0-0 w0 w1 w2", last: "[2] s0-0.1 heard s0-1 w0 w1" };

function bodies(): EntryBody[] {
  const message = (content: string): EntryBody => ({
    type: "message",
    runId: RUN,
    message: { role: "user", content, timestamp: NOW } as never,
  });
  const said = (own: AssistantMessage | ToolResultMessage): EntryBody => ({
    type: "message",
    runId: RUN,
    message: own,
  });
  const intent = ({ id, name }: (typeof calls)[number]): EntryBody => ({
    type: "tool_intent",
    runId: RUN,
    toolCallId: id,
    toolName: name,
    args: {},
    replay: name === "safe" ? "safe" : "never",
    idempotencyKey: `${RUN}:0:${id}`,
  });
  return [
    { type: "run_start", runId: RUN },
    message(textOf(task)),
    said(answer(1, texts.first, calls)),
    {
      type: "approval_request",
      approvalId: "approval-1",
      toolCallId: asks.id,
      toolName: "asks",
      args: {},
    },
    { type: "approval_answer", approvalId: "approval-1", decision: "allow" },
    ...calls.map((call) => intent(call)),
    ...calls.map((call) => said(result(call, resultOf(call.name, call.id)))),
    message(asideText("s0-1")),
    said(answer(2, texts.last, [])),
    { type: "run_end", runId: RUN, reason: "done", usage: { input: 2003, output: 4 } },
  ];
}

export function toEntries(all: readonly EntryBody[]): AnyEntry[] {
  return all.map((body, seq) => ({
    ...body,
    seq,
    id: `${RUN}:${seq}`,
    parentId: seq === 0 ? null : `${RUN}:${seq - 1}`,
    timestamp: NOW + seq,
  }));
}

function model(number: number, text: string, own: Partial<ModelCall>): ModelCall {
  return {
    number,
    task: task.name,
    turn: number - 1,
    text,
    calls: [],
    tokens: { input: 1000 + number, output: 2 },
    seenAnswers: [],
    seenResults: new Map(),
    problems: [],
    startedAt: NOW,
    endedAt: NOW,
    state: "whole",
    ...own,
  };
}

export function use({ id, name }: { readonly id: string; readonly name: string }): ToolUse {
  return { name, toolCallId: id, key: `${RUN}:0:${id}`, pid: 1, startedAt: NOW, endedAt: NOW };
}

/** The events of the run as a client gets them. */
export function frames(): RunFrame[] {
  const about = { runId: RUN, sessionKey: SESSION };
  const all: { readonly event: string; readonly data: object }[] = [
    { event: "chat.user", data: { text: textOf(task) } },
    { event: "chat.delta", data: { turn: 0, text: texts.first.slice(0, 9) } },
    { event: "chat.delta", data: { turn: 0, text: texts.first.slice(9) } },
    ...calls.map(({ id, name }) => ({
      event: "chat.tool_call",
      data: { toolCallId: id, name, arguments: {} },
    })),
    ...calls.map(({ id, name }) => ({
      event: "chat.tool_result",
      data: { toolCallId: id, name, output: resultOf(name, id), isError: false, durationMs: 1 },
    })),
    { event: "chat.user", data: { text: asideText("s0-1") } },
    { event: "chat.delta", data: { turn: 1, text: texts.last } },
    {
      event: "chat.final",
      data: { usage: { inputTokens: 2003, outputTokens: 4 }, stopReason: "stop" },
    },
  ];
  return all.map(
    ({ event, data }, seq) =>
      ({ event, data: { ...about, seq, ...data } }) as EventFrame as RunFrame,
  );
}

export function streamOf(given: readonly RunFrame[]): RunStream {
  const stream = new RunStream("s0-sender", SESSION, RUN, true);
  for (const frame of given) stream.take(frame);
  return stream;
}

function sent(name: string, text: string, kind: SentMessage["kind"]): SentMessage {
  const status = kind === "send" ? "started" : "steered";
  return {
    client: "s0-sender",
    session: SESSION,
    name,
    text,
    kind,
    key: `run-${name}`,
    answers: [{ runId: RUN, status }],
  };
}

export function forged(change: { readonly entries?: (all: EntryBody[]) => void } = {}): Forged {
  const entries = bodies();
  change.entries?.(entries);
  const audit: AuditRow[] = [
    { at: NOW, session: SESSION, by: "worker-1", what: "epoch", epoch: 1 },
    ...entries.map((_, seq): AuditRow => ({
      at: NOW + seq,
      session: SESSION,
      by: "worker-1",
      what: "entry",
      key: `${RUN}:${seq}`,
    })),
  ];
  return {
    sessions: [{ key: SESSION, entries: toEntries(entries) }],
    ledger: {
      models: [
        model(1, texts.first, { calls: calls.map(({ name }) => name) }),
        model(2, texts.last, {
          seenAnswers: [{ number: 1, text: texts.first }],
          seenResults: new Map(calls.map(({ id, name }) => [id, resultOf(name, id)])),
        }),
      ],
      tools: calls.map((call) => use(call)),
    },
    messages: [sent(task.name, textOf(task), "send"), sent("s0-1", asideText("s0-1"), "steer")],
    aborts: [],
    answers: [{ session: SESSION, approvalId: "approval-1", decision: "allow" }],
    streams: [streamOf(frames())],
    complaints: [],
    audit,
    bus: [{ at: NOW, session: SESSION, runId: RUN, attempt: 1, seq: 0, event: "chat.user" }],
    outages: [],
    left: { openRuns: [], waiting: [], approvals: [], invocations: [], failures: [] },
  };
}

export { asks, never, NOW, safe, texts };
