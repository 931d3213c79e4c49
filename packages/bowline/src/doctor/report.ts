/** Formats the result for people: one line per finding, then the verdict and the next steps. */
import { oneLine, shellWord, type Style } from "../terminal.ts";
import { areas, type Area, type DoctorResult, type Finding, type Mark } from "./finding.ts";
import { isUsable } from "./verdict.ts";

const titles: Readonly<Record<Area, string>> = {
  connection: "Connection",
  streaming: "Streaming",
  answer: "Answers",
  tools: "Tools",
  options: "Options",
  errors: "Errors",
};

const MARK_WIDTH = "not seen".length;

/** `written` is the profile's file, if one was written. */
export function reportText(result: DoctorResult, style: Style, written?: string): string {
  const { baseUrl, model, findings, requests, ms } = result;
  const lines = [
    style.bold(oneLine(`${baseUrl}${model === undefined ? "" : `, model ${model}`}`, 300)),
  ];
  for (const area of areas) {
    const rows = findings.filter((finding) => finding.area === area);
    if (rows.length > 0)
      lines.push("", titles[area], ...rows.map((row) => findingLine(row, style)));
  }
  const paint = isUsable(result) ? style.green : style.red;
  lines.push(
    "",
    paint(style.bold(oneLine(result.verdict.text, 600))),
    ...nextSteps(result, written),
  );
  lines.push(style.dim(`${requests} requests, ${(ms / 1000).toFixed(1)} s`));
  return `${lines.join("\n")}\n`;
}

function findingLine({ mark, says, means }: Finding, style: Style): string {
  const text = oneLine(says, 400);
  return `  ${paintMark(mark, style)}  ${text}${means === undefined ? "" : style.dim(` – ${oneLine(means, 300)}`)}`;
}

function paintMark(mark: Mark, { green, red, bold, dim }: Style): string {
  const padded = mark.padEnd(MARK_WIDTH);
  switch (mark) {
    case "ok":
      return green(padded);
    case "failed":
      return red(padded);
    case "differs":
    case "missing":
      return bold(padded);
    case "not seen":
      return dim(padded);
  }
}

function nextSteps({ profile }: DoctorResult, written: string | undefined): string[] {
  if (profile === undefined) return [];
  if (written !== undefined)
    return [
      `The profile is in ${oneLine(written, 300)}: bowline run --profile ${quoted(written)} "<task>"`,
    ];
  if (Object.keys(profile.compat).length > 0) {
    const compat = `compat ${JSON.stringify(profile.compat)}`;
    return [
      `Save the settings with --write <file>, then: bowline run --profile <file> "<task>" (in code: ${compat})`,
    ];
  }
  const where = `--base-url ${quoted(profile.baseUrl)} --model ${quoted(profile.model)}`;
  return [`Use it: bowline run ${where} "<task>"; --write <file> saves a profile`];
}

/**
 * Quotes a word for the shell: the line is meant to be copied, and a server chooses its model
 * names.
 */
function quoted(word: string): string {
  return shellWord(oneLine(word, 300));
}
