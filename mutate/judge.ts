/** Compares what this library made of a stream with the acceptor's verdict. */
import type { Held, HeldCall, Verdict } from "./acceptors/verdict.ts";
import type { Decoded, Run } from "./decode.ts";
import { canonicalNode, canonicalQuoted, canonicalValue, parseJsonText } from "./json-text.ts";

/** A problem. Kinds from worst to least: `wrongRun` is a call that ran and must not have. */
export interface Problem {
  readonly kind: "wrongRun" | "goodEnd" | "lostCall" | "wrongText" | "refused" | "rounded";
  readonly text: string;
}

/** A call of the answer, in the forms in which it may run. */
interface Runnable {
  readonly call: HeldCall;
  /**
   * The arguments, exact and as JavaScript rounds them; undefined if they are not a JSON object.
   */
  readonly exact: string | undefined;
  readonly rounded: string | undefined;
  /** The arguments, with numbers that would be rounded as strings. */
  readonly quoted?: string;
  /** Whether the call must run and may not be refused. */
  readonly isDue: boolean;
}

/**
 * Returns the worst problem, or undefined. `whole` is the content of the stream before mutation.
 */
export function findProblem(verdict: Verdict, decoded: Decoded, whole: Held): Problem | undefined {
  const { calls } = verdict.is === "illegal" ? whole : verdict.held;
  return findWrong(verdict, decoded, whole) ?? findRounded(decoded.runs, withoutIds(calls));
}

/** Removes ids, since the mutation may have changed the id of a call. */
function withoutIds(calls: readonly HeldCall[]): HeldCall[] {
  return calls.map((call) => ({ ...call, id: undefined }));
}

/** Removes ids that two calls share, since a decoder gives one of them a new id. */
function withoutTwins(calls: readonly HeldCall[]): HeldCall[] {
  const isTwin = ({ id }: HeldCall): boolean => calls.filter((one) => one.id === id).length > 1;
  return calls.map((call) => (isTwin(call) ? { ...call, id: undefined } : call));
}

/** Finds a call that ran as the answer has it, except for digits of its numbers. */
function findRounded(runs: readonly Run[], calls: readonly HeldCall[]): Problem | undefined {
  const held = calls.map(toRunnable);
  const isRounded = runs.some((run) => {
    const given = canonicalValue(run.arguments);
    const own = held.filter(({ call, rounded }) => isOf(run, call) && rounded === given);
    return own.length > 0 && own.every(({ exact }) => exact !== given);
  });
  return isRounded ? problem("rounded", "a call ran with a number rounded") : undefined;
}

function findWrong(verdict: Verdict, decoded: Decoded, whole: Held): Problem | undefined {
  const isGood = endedWell(decoded);
  const goodEnd = isGood ? `ended well (${decoded.stopReason})` : undefined;
  if (verdict.is === "illegal") {
    const calls = withoutIds(whole.calls);
    const isAll = inexact(decoded, { ...whole, calls }) === undefined;
    const text = goodEnd && `${goodEnd}, ${isAll ? "with all" : "without all"} of the answer`;
    return wrongRun(decoded.runs, calls) ?? problem("goodEnd", text);
  }
  const held = { ...verdict.held, calls: withoutTwins(verdict.held.calls) };
  if (held.ending !== "complete") {
    const mayRun = held.ending === "cut" ? held.calls : [];
    const text = goodEnd && `${goodEnd}, though the answer is ${held.ending}`;
    return wrongRun(decoded.runs, mayRun) ?? problem("goodEnd", text);
  }
  const wrong = wrongRun(decoded.runs, held.calls);
  if (wrong !== undefined) return wrong;
  if (!isGood && (verdict.is === "doubtful" || isEmpty(held))) return undefined;
  return inexact(decoded, held);
}

/**
 * Returns whether the answer ended well. A running call is one that the loop considers complete. If
 * all calls are refused, the ending is not good: the model is told and called again.
 */
function endedWell({ stopReason, runs }: Decoded): boolean {
  return stopReason === "stop" || (stopReason === "toolUse" && runs.length > 0);
}

/** Returns whether the answer contains nothing that could end well. */
function isEmpty({ text, calls }: Held): boolean {
  return text === "" && calls.every((call) => toRunnable(call).exact === undefined);
}

/** Returns the first difference from a complete answer. */
function inexact({ runs, text, stopReason, error }: Decoded, held: Held): Problem | undefined {
  if (stopReason !== "stop" && stopReason !== "toolUse")
    return problem("refused", `ended as ${stopReason} (${(error ?? "").slice(0, 60)})`);
  const left = [...runs];
  for (const due of held.calls.map(toRunnable).filter(({ isDue }) => isDue)) {
    const place = left.findIndex((run) => isRunOf(run, due));
    if (place === -1) return problem("lostCall", "a call that the answer holds did not run");
    left.splice(place, 1);
  }
  return text.toWellFormed() === held.text.toWellFormed()
    ? undefined
    : problem("wrongText", "another text than the answer holds");
}

/** Returns a problem for the first run that is not one of the calls, each used once. */
function wrongRun(runs: readonly Run[], calls: readonly HeldCall[]): Problem | undefined {
  const left = calls.map(toRunnable);
  for (const run of runs) {
    const place = left.findIndex((one) => isRunOf(run, one));
    if (place === -1) return problem("wrongRun", whyWrong(run, calls, left));
    left.splice(place, 1);
  }
  return undefined;
}

function whyWrong(run: Run, calls: readonly HeldCall[], left: readonly Runnable[]): string {
  if (calls.map(toRunnable).some((one) => isRunOf(run, one))) return "a call ran twice";
  const same = left.find(({ call }) => isOf(run, call));
  if (same === undefined) return "a call ran that the answer does not hold";
  return same.exact === undefined
    ? "a call ran whose arguments are not a JSON object"
    : "a call ran with other arguments";
}

function isRunOf(run: Run, { call, exact, rounded, quoted }: Runnable): boolean {
  const given = canonicalValue(run.arguments);
  return isOf(run, call) && [exact, rounded, quoted].includes(given);
}

function isOf(run: Run, { id, name }: HeldCall): boolean {
  return run.name === name && (id === undefined || run.id === id);
}

/** Converts a call. For a call without arguments, the text may be empty or null. */
function toRunnable(call: HeldCall): Runnable {
  const text = call.arguments.trim();
  const written = text === "" || text === "null" ? "{}" : call.arguments;
  const mended = mendStrings(written);
  const node = parseJsonText(written) ?? parseJsonText(mended);
  if (node?.kind !== "object") return { call, exact: undefined, rounded: undefined, isDue: false };
  const exact = canonicalNode(node);
  const rounded = canonicalValue(JSON.parse(mended));
  return {
    call,
    exact,
    rounded,
    quoted: canonicalQuoted(node),
    isDue: text !== "null" && exact === rounded && mended === written && !call.mayBeRefused,
  };
}

/**
 * Repairs strings. Models write raw control characters and backslashes that escape nothing, and
 * this library's documentation says that it repairs them. Such a call may run but need not.
 */
function mendStrings(text: string): string {
  if (parseJsonText(text) !== undefined) return text;
  return text.replaceAll(/"(?:[^"\\]|\\[^])*"/g, (string) =>
    string
      .replaceAll(/\\(?:["\\/bfnrt]|u[\da-fA-F]{4})|\\/g, (one) => (one === "\\" ? "\\\\" : one))
      .replaceAll(/[\u0000-\u001f]/g, (one) => JSON.stringify(one).slice(1, -1)),
  );
}

function problem(kind: Problem["kind"], text: string): Problem;
function problem(kind: Problem["kind"], text: string | undefined): Problem | undefined;
function problem(kind: Problem["kind"], text: string | undefined): Problem | undefined {
  return text === undefined ? undefined : { kind, text };
}
