/** Compares the result of a client with what a fixture expects. */
import { isDeepStrictEqual } from "node:util";
import { defaultTools, type Call, type Fixture } from "./fixture.ts";

export interface Outcome {
  readonly text: string;
  /**
   * The calls that ran, or that were handed over as runnable. A call with an unknown name cannot
   * run.
   */
  readonly calls: readonly Call[];
  /** The number of calls reported as broken: they cannot run, and the user sees them. */
  readonly refused?: number;
  readonly ended: "ok" | "error";
  /** The error that was thrown or reported, for people. */
  readonly threw?: string;
}

export interface Verdict {
  /** The differences from the expectation, in words. Empty if the client passed. */
  readonly faults: readonly string[];
  /** Whether a call that must not run could run, or a call could run with wrong arguments. */
  readonly unsafe: boolean;
  /**
   * Whether the client reported success although the answer failed, or text or calls are missing.
   */
  readonly silent: boolean;
}

export function judge(
  { expect, tools = defaultTools }: Fixture,
  { text, calls, refused = 0, ended, threw }: Outcome,
): Verdict {
  const faults: string[] = [];
  const wanted = expect.calls ?? [];
  const runnable = calls.filter(({ name }) => tools.includes(name));
  const extra = subtract(runnable, wanted);
  const missing = subtract(wanted, runnable);
  const unsafe = extra.length > 0;
  if (unsafe) faults.push(`may run ${show(extra)}`);
  let silent = false;
  // An answer that was cut may be reported as an error or by its stop reason.
  if (expect.stopReason === "length" && ended === "error") return { faults, unsafe, silent };
  if (expect.ends === "done" && ended === "error")
    faults.push(`failed: ${clip(threw ?? "no reason")}`);
  else if (expect.ends === "error" && ended === "ok") {
    silent = true;
    faults.push("ended well, an error is expected");
  } else if (expect.ends === "done") {
    if (missing.length > 0) faults.push(`misses ${show(missing)}`);
    else if (!unsafe && !isDeepStrictEqual(runnable, wanted)) faults.push("calls in another order");
    const hasText = expect.text === undefined || text === expect.text;
    if (!hasText)
      faults.push(`text ${clip(JSON.stringify(text))} for ${clip(JSON.stringify(expect.text))}`);
    const seen = refused + calls.length - runnable.length;
    silent = (missing.length > 0 && seen === 0) || (!hasText && !text.includes(expect.text ?? ""));
  }
  return { faults, unsafe, silent };
}

/** Returns the calls of `list` that have no equal partner in `other`. */
function subtract(list: readonly Call[], other: readonly Call[]): Call[] {
  const rest = [...other];
  return list.filter((call) => {
    const at = rest.findIndex((candidate) => isDeepStrictEqual(candidate, call));
    if (at === -1) return true;
    rest.splice(at, 1);
    return false;
  });
}

function show(calls: readonly Call[]): string {
  return calls
    .map(({ name, arguments: args }) => `${name}(${clip(JSON.stringify(args))})`)
    .join(", ");
}

export function clip(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ");
  return flat.length > 140 ? `${flat.slice(0, 100)} … ${flat.slice(-30)}` : flat;
}
