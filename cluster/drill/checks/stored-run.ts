/** The stored transcript of a session, by its runs. */
import type { AssistantMessage, ToolResultMessage, Usage } from "@bowline/core";
import {
  isKnownEntry,
  type AnyEntry,
  type Entry,
  type SessionMessage,
} from "@bowline/core/session";
import { textOf } from "../clients/folded-run.ts";
import { numberIn } from "../outside/ledger.ts";

type EntryOf<T extends Entry["type"]> = Extract<Entry, { readonly type: T }>;

export interface StoredRun {
  readonly runId: string;
  readonly entries: readonly Entry[];
  readonly messages: readonly SessionMessage[];
  readonly starts: number;
  readonly ends: readonly EntryOf<"run_end">[];
}

export interface StoredCall {
  readonly id: string;
  readonly name: string;
  /** The text of its result. Undefined without one. */
  readonly result?: string;
}

export interface StoredAnswer {
  /** The number of the model's call. Undefined for an answer that does not say it, such as an empty one. */
  readonly number: number | undefined;
  readonly text: string;
  readonly calls: readonly string[];
  readonly isWhole: boolean;
  readonly usage: Usage;
}

export function knownEntries(entries: readonly AnyEntry[]): Entry[] {
  return entries.filter((entry) => isKnownEntry(entry));
}

export function messagesIn(entries: readonly AnyEntry[]): SessionMessage[] {
  return knownEntries(entries).flatMap((entry) =>
    entry.type === "message" ? [entry.message] : [],
  );
}

export function runsIn(entries: readonly AnyEntry[]): Map<string, StoredRun> {
  const byRun = Map.groupBy(knownEntries(entries), (entry) =>
    "runId" in entry ? entry.runId : undefined,
  );
  byRun.delete(undefined);
  return new Map(
    [...byRun].map(([runId = "", own]) => [
      runId,
      {
        runId,
        entries: own,
        messages: messagesIn(own),
        starts: own.filter(({ type }) => type === "run_start").length,
        ends: own.filter((entry) => entry.type === "run_end"),
      },
    ]),
  );
}

export function answersIn(messages: readonly SessionMessage[]): StoredAnswer[] {
  return messages.flatMap((message) => {
    if (message.role !== "assistant") return [];
    const { content, stopReason, usage } = message as AssistantMessage;
    const text = textOf(content);
    const calls = content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []));
    const isWhole = stopReason === "stop" || stopReason === "toolUse";
    return [{ number: numberIn(text), text, calls, isWhole, usage }];
  });
}

/** Returns the calls of all answers with their results, in order. */
export function callsIn(messages: readonly SessionMessage[]): StoredCall[] {
  const results = new Map(
    messages.flatMap((message) => {
      if (message.role !== "toolResult") return [];
      const { toolCallId, content } = message as ToolResultMessage;
      return [[toolCallId, textOf(content)] as const];
    }),
  );
  return messages.flatMap((message) => {
    if (message.role !== "assistant") return [];
    return (message as AssistantMessage).content.flatMap((part) => {
      if (part.type !== "toolCall") return [];
      const result = results.get(part.id);
      return [{ id: part.id, name: part.name, ...(result !== undefined && { result }) }];
    });
  });
}
