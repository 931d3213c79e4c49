/**
 * The model's calls and the usage of runs agree: a run's usage is the sum of its answers as the vendor
 * counted them, and a call without an answer in the transcript belongs to an attempt that was lost.
 */
import type { Message, UserMessage } from "@bowline/core";
import type { SessionMessage } from "@bowline/core/session";
import { estimateTokens, sumTokens } from "../../../packages/core/src/agent/context/tokens.ts";
import { textOf } from "../clients/folded-run.ts";
import type { Evidence, Finding } from "../evidence.ts";
import type { ModelCall } from "../outside/ledger.ts";
import { sessionIn, taskIn, THRIFTY_TOKENS } from "../task.ts";
import { answersIn, messagesIn, runsIn, type StoredRun } from "./stored-run.ts";

/** The estimate is of what was sent, which may be less than what is stored. */
const OVERRUN = 1.2;

export function checkBills({ sessions, ledger, audit, streams }: Evidence): Finding[] {
  const byNumber = new Map(ledger.models.map((call) => [call.number, call]));
  const bySession = Map.groupBy(ledger.models, ({ task }) => sessionIn(task));
  const epochs = Map.groupBy(
    audit.filter(({ what }) => what === "epoch"),
    ({ session }) => session,
  );
  const found: Finding[] = [];
  for (const { key, entries } of sessions) {
    const runs = [...runsIn(entries).values()];
    const say = (text: string): void => void found.push({ check: "bills", session: key, text });
    for (const run of runs) checkRun(run, byNumber).forEach(say);
    checkBudgets(messagesIn(entries), runs, byNumber).forEach(say);
    const attempts = epochs.get(key)?.length;
    if (attempts === undefined) continue;
    // Each attempt makes one call at a time, and can lose only the last one.
    const stored = new Set(
      runs.flatMap(({ messages }) => answersIn(messages).map(({ number }) => number)),
    );
    const lost = (bySession.get(key) ?? []).filter(({ number }) => !stored.has(number));
    const aborted = runs.filter(({ ends }) => ends[0]?.reason === "aborted").length;
    const most = attempts - runs.length + aborted;
    if (lost.length > most)
      say(
        `${lost.length} calls of the model are in no transcript (${lost.map(({ number }) => number).join(", ")}), and ${most} can have been lost: ${attempts} attempts at ${runs.length} runs`,
      );
  }
  const ended = new Map(
    sessions.flatMap(({ key, entries }) =>
      [...runsIn(entries).values()].map(
        (run) => [`${key} ${run.runId}`, run.ends[0]?.usage] as const,
      ),
    ),
  );
  for (const { session, runId, end, client } of streams) {
    if (end === undefined || end.event === "chat.error") continue;
    const stored = ended.get(`${session} ${runId}`);
    const [shown, own] = [end.data.usage, stored].map((usage) => JSON.stringify(inAndOut(usage)));
    if (shown !== own)
      found.push({
        check: "bills",
        session,
        text: `${client} was told that the run ${runId} used ${shown}, and it used ${own}`,
      });
  }
  return found;
}

function checkRun(
  { runId, messages, ends }: StoredRun,
  calls: ReadonlyMap<number, ModelCall>,
): string[] {
  const answers = answersIn(messages);
  // The usage of an answer that was cut off is not known.
  if (ends.length !== 1 || answers.some(({ isWhole, text }) => !isWhole && text !== "")) return [];
  let [input, output] = [0, 0];
  for (const { number } of answers) {
    const tokens = number === undefined ? undefined : calls.get(number)?.tokens;
    input += tokens?.input ?? 0;
    output += tokens?.output ?? 0;
  }
  const [billed, own] = [inAndOut({ input, output }), inAndOut(ends[0]?.usage)];
  if (JSON.stringify(billed) === JSON.stringify(own)) return [];
  return [
    `the run ${runId} says ${JSON.stringify(own)}, and its answers cost ${JSON.stringify(billed)}`,
  ];
}

/**
 * No run of the thrifty agent goes on when its answers took more than its budget. Their tokens are
 * estimated, because the model's server reports none.
 */
function checkBudgets(
  all: readonly SessionMessage[],
  runs: readonly StoredRun[],
  calls: ReadonlyMap<number, ModelCall>,
): string[] {
  return runs.flatMap(({ runId, messages }) => {
    const [first] = messages;
    const task =
      first?.role === "user" ? taskIn(textOf((first as UserMessage).content)) : undefined;
    if (task?.isUncounted !== true) return [];
    let used = 0;
    for (const message of messages) {
      if (message.role !== "assistant") continue;
      const [{ number } = {}] = answersIn([message]);
      if (number === undefined) continue;
      if (calls.get(number)?.tokens !== undefined) return []; // the estimate would not be the run's
      if (used > THRIFTY_TOKENS * OVERRUN)
        return [
          `the run ${runId} has the answer ${number} after ${used} tokens, and its budget is ${THRIFTY_TOKENS}`,
        ];
      const before = all.slice(0, all.indexOf(message) + 1);
      used += sumTokens(before as Message[], estimateTokens);
    }
    return [];
  });
}

/** Usage of a run as it is stored, or as clients are told of it. */
interface Counts {
  readonly input?: number;
  readonly output?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

function inAndOut(usage: Counts | undefined): readonly [number, number] {
  return [usage?.input ?? usage?.inputTokens ?? 0, usage?.output ?? usage?.outputTokens ?? 0];
}
