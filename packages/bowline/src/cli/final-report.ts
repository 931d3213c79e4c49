/** Reports that print only the end of a run: its answer, or one JSON object. */
import type { RunResult } from "@bowline/core";
import type { Session } from "@bowline/core/session";
import { oneLine, printable, printableJson, type Output } from "../terminal.ts";
import type { SideLog } from "./side-log.ts";
import { advised, type Report } from "./report.ts";

/** Prints the answer to standard output, and an error to standard error. */
export function quietReport(stdout: Output, stderr: Output): Report {
  return {
    event() {},
    note: (line) => void stderr.write(`${line}\n`),
    result(result, advice) {
      const text = stdout.isTTY === true ? printable(result.text) : result.text;
      if (text !== "") stdout.write(text.endsWith("\n") ? text : `${text}\n`);
      if (result.reason !== "done") stderr.write(`bowline: ${errorLine(result, advice)}\n`);
    },
  };
}

/** Prints one JSON object per run, and an error also to standard error. */
export function objectReport(
  stdout: Output,
  stderr: Output,
  session: Pick<Session, "id"> | undefined,
  log: Pick<SideLog, "lines">,
): Report {
  return {
    event() {},
    note: (line) => void stderr.write(`${line}\n`),
    result(result, advice) {
      stdout.write(`${printableJson(resultObject(result, session?.id, log.lines))}\n`);
      if (result.reason !== "done") stderr.write(`bowline: ${errorLine(result, advice)}\n`);
    },
  };
}

function resultObject(
  { text, reason, turns, tools, usage, error }: RunResult,
  session: string | undefined,
  notices: SideLog["lines"],
): Record<string, unknown> {
  const { cost, ...tokens } = usage;
  return {
    type: "result",
    text,
    reason,
    session: session ?? null,
    turns,
    toolCalls: tools.length,
    usage: tokens,
    cost: cost?.total ?? null,
    ...(notices.length > 0 && { notices }),
    ...(error !== undefined && { error: { code: error.code, message: error.message } }),
  };
}

function errorLine({ reason, error }: RunResult, advice: string | undefined): string {
  if (reason === "length") return "the answer was cut by the model's token limit";
  return oneLine(advised(error?.message ?? reason, advice), 1200);
}
