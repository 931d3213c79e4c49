/**
 * Every transcript is valid: whole runs, one after the other, the answers that the model's server gave,
 * a result for each call, and requests that strict servers accept.
 */
import {
  getModel,
  type AssistantMessage,
  type Context,
  type Message,
  type ToolResultMessage,
} from "@bowline/core";
import { anthropicMessages } from "@bowline/core/anthropic-messages";
import { openaiChat } from "@bowline/core/openai-chat";
import { isKnownEntry, type SessionMessage } from "@bowline/core/session";
import { checkChatRequest, checkMessagesRequest } from "@bowline/core/testing";
import type { Evidence, Finding, SessionEvidence } from "../evidence.ts";
import type { ModelCall } from "../outside/ledger.ts";
import { sessionIn } from "../task.ts";
import { answersIn, knownEntries, messagesIn } from "./stored-run.ts";

const wires = [
  { protocol: openaiChat, model: getModel("openai", "m"), check: checkChatRequest },
  { protocol: anthropicMessages, model: getModel("anthropic", "m"), check: checkMessagesRequest },
] as const;

export function checkTranscripts({ sessions, ledger }: Evidence): Finding[] {
  const calls = new Map(ledger.models.map((call) => [call.number, call]));
  const refused = ledger.models.flatMap(({ number, problems }) =>
    problems.map((problem) => ({
      check: "transcripts",
      text: `the request of call ${number}: ${problem}`,
    })),
  );
  return [...refused, ...sessions.flatMap((session) => checkSession(session, calls))];
}

function checkSession(session: SessionEvidence, calls: ReadonlyMap<number, ModelCall>): Finding[] {
  const messages = messagesIn(session.entries);
  return [
    ...checkOrder(session),
    ...checkRuns(session),
    ...checkResults(messages),
    ...checkAnswers(session.key, messages, calls),
    ...checkRequests(messages),
  ].map((text) => ({ check: "transcripts", session: session.key, text }));
}

function checkOrder({ entries }: SessionEvidence): string[] {
  return entries.flatMap((entry, index) => [
    ...(entry.seq === index ? [] : [`the entry ${index} has the number ${entry.seq}`]),
    ...(isKnownEntry(entry) ? [] : [`the entry ${index} has the unknown type ${entry.type}`]),
  ]);
}

/** A run has one start and one end, and between them no entry of another run. */
function checkRuns({ entries }: SessionEvidence): string[] {
  const found: string[] = [];
  const ended = new Set<string>();
  let open: string | undefined;
  for (const entry of knownEntries(entries)) {
    if (!("runId" in entry) || entry.runId === undefined) continue;
    const { type, runId, seq } = entry;
    const what = `${type} ${seq} of the run ${runId}`;
    if (ended.has(runId)) found.push(`${what} is after the run's end`);
    else if (type === "run_start") {
      if (open !== undefined) found.push(`${what} is before the end of ${open}`);
      open = runId;
    } else if (open !== runId) found.push(`${what} is outside of the run`);
    if (type !== "run_end") continue;
    ended.add(runId);
    open = undefined;
  }
  if (open !== undefined) found.push(`the run ${open} has no end`);
  return found;
}

/** The results of an answer's calls follow it: each once, and nothing else. */
function checkResults(messages: readonly SessionMessage[]): string[] {
  const found: string[] = [];
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === "toolResult") {
      const { toolCallId } = message as ToolResultMessage;
      if (!open.delete(toolCallId))
        found.push(`message ${index} is a result that no call waits for: ${toolCallId}`);
      continue;
    }
    if (open.size > 0)
      found.push(
        `message ${index} is a ${message.role} before the result of ${[...open].join(", ")}`,
      );
    open = new Set();
    if (message.role !== "assistant") continue;
    for (const part of (message as AssistantMessage).content)
      if (part.type === "toolCall") open.add(part.id);
  }
  if (open.size > 0) found.push(`there is no result of ${[...open].join(", ")}`);
  return found;
}

/** Each answer is one that the model's server gave to this session, word for word, once. */
function checkAnswers(
  key: string,
  messages: readonly SessionMessage[],
  calls: ReadonlyMap<number, ModelCall>,
): string[] {
  const found: string[] = [];
  const seen = new Set<number>();
  const own = answersIn(messages);
  for (const { number, text, isWhole, calls: ids } of own) {
    if (number === undefined) {
      if (isWhole || text !== "")
        found.push(`the model's server gave no answer ${JSON.stringify(text)}`);
      continue;
    }
    const call = calls.get(number);
    if (seen.has(number)) found.push(`the answer ${number} is there twice`);
    seen.add(number);
    if (call === undefined || sessionIn(call.task) !== key)
      found.push(`the answer ${number} belongs to ${call?.task ?? "nobody"}`);
    else if (isWhole ? text !== call.text : !call.text.startsWith(text))
      found.push(
        `the answer ${number} is ${JSON.stringify(text)} instead of ${JSON.stringify(call.text)}`,
      );
    else if (isWhole && ids.length !== call.calls.length)
      found.push(`the answer ${number} has ${ids.length} calls instead of ${call.calls.length}`);
  }
  for (const call of calls.values()) {
    if (sessionIn(call.task) !== key) continue;
    for (const { number, text } of call.seenAnswers)
      if (!own.some((answer) => answer.text === text))
        found.push(
          `the model was shown an answer ${number} that is not in the transcript: ${JSON.stringify(text)}`,
        );
  }
  return found;
}

function checkRequests(messages: readonly SessionMessage[]): string[] {
  // As the next message of the session would be sent.
  const next: Message = { role: "user", content: "next", timestamp: 0 };
  const context: Context = { messages: [...(messages as Message[]), next] };
  return wires.flatMap(({ protocol, model, check }) => {
    const { body } = protocol.encode(model, context, {});
    const sent: unknown = JSON.parse(JSON.stringify(body));
    return check(sent).map((problem) => `${protocol.api}: ${problem}`);
  });
}
