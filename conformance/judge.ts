/** What a client made of a fixture, and whether that is what the fixture asks for. */
import { isDeepStrictEqual } from "node:util";
import { defaultTools, type Call, type Fixture } from "./fixture.ts";

export interface Outcome {
  readonly text: string;
  /** The calls handed over as runnable, or run; a name that no tool has can not run. */
  readonly calls: readonly Call[];
  /** Calls handed over as broken: they cannot run, and the user sees them. */
  readonly refused?: number;
  readonly ended: "ok" | "error";
  /** What was thrown or reported, for people. */
  readonly threw?: string;
}

export interface Verdict {
  /** What differs from the expectation, in words. Empty is a pass. */
  readonly faults: readonly string[];
  /** A call could run that must not, or with other arguments. */
  readonly unsafe: boolean;
  /** Success was reported where there was none, or where text or calls are missing. */
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
  // To report a cut as an error is as good as to report it as a stop reason.
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

/** What of `list` has no equal of its own in `other`. */
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
