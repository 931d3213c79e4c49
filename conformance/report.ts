/** Prints the scores of all clients as a table, and writes them to docs/project/conformance.md. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { nameOf, type Fixture } from "./fixture.ts";
import type { Verdict } from "./judge.ts";
import { sections } from "./sections.ts";

export interface Row {
  readonly name: string;
  /** The packages measured, with versions. */
  readonly packages: string;
  readonly verdicts: ReadonlyMap<Fixture, Verdict>;
}

export function printTable(rows: readonly Row[]): void {
  const lines = table(rows);
  const widths = lines[0]!.map((_, column) =>
    Math.max(...lines.map((line) => line[column]!.length)),
  );
  for (const line of lines)
    console.log(line.map((cell, column) => cell.padEnd(widths[column]!)).join("  "));
}

export function writeReport(rows: readonly Row[]): void {
  const root = join(import.meta.dirname, "..");
  const file = join(root, "docs", "project", "conformance.md");
  writeFileSync(file, report(rows));
  spawnSync("npx", ["oxfmt", file], { cwd: root, stdio: "inherit" });
  console.log("wrote docs/project/conformance.md");
}

/** Returns a header, then one row for each client: passed of total by section, then the totals. */
function table(rows: readonly Row[]): string[][] {
  const head = [
    "client",
    ...sections.map(({ letter }) => letter),
    "all",
    "unsafe runs",
    "silent losses",
  ];
  return [
    head,
    ...rows.map((row) => [
      row.name,
      ...sections.map(({ fixtures }) => passed(row, fixtures)),
      ...totals(row),
    ]),
  ];
}

function passed({ verdicts }: Row, fixtures: readonly Fixture[]): string {
  const own = fixtures.flatMap((fixture) => verdicts.get(fixture) ?? []);
  return own.length === 0
    ? "-"
    : `${own.filter(({ faults }) => faults.length === 0).length}/${own.length}`;
}

function totals(row: Row): string[] {
  const count = (field: "unsafe" | "silent"): string => {
    const marked = [...row.verdicts].filter(([, verdict]) => verdict[field]);
    const arguable = marked.filter(([{ note }]) => note !== undefined).length;
    return arguable === 0 ? String(marked.length) : `${marked.length} (${arguable} arguable)`;
  };
  return [passed(row, [...row.verdicts.keys()]), count("unsafe"), count("silent")];
}

function report(rows: readonly Row[]): string {
  const lines = table(rows);
  const [head, ...body] = lines.map((line) => `| ${line.join(" | ")} |`);
  const failures = [...rows[0]!.verdicts].filter(([, { faults }]) => faults.length > 0);
  const arguable = sections
    .flatMap(({ fixtures }) => fixtures)
    .filter(({ note }) => note !== undefined);
  return `# Conformance

What servers of the four wire protocols really send, and how clients handle it. Each fixture is the exact bytes of one answer,
with the result that a client must produce. Q numbers refer to the [quirks](quirks.md). \`npm run conformance\` writes this page.
It fails if Bowline fails any fixture: there is no list of known failures.

${head}
| ${lines[0]!.map(() => "---").join(" | ")} |
${body.join("\n")}

${sections.map(({ letter, title, fixtures }) => `- ${letter}: ${title}, ${fixtures.length} fixtures`).join("\n")}

Each cell shows the fixtures passed, out of those whose protocol the client speaks.

**Unsafe runs** are answers in which a tool call ran, or was handed over to run, that must not run or that had other
arguments. **Silent losses** are answers reported as successful although they were cut, failed or empty, or that lost text or
calls without a trace. The brackets show how many of them are on fixtures with an arguable expectation (listed below).

## How it was measured

On ${new Date().toISOString().slice(0, 10)}, with Node ${process.versions.node}. Every client reads the same bytes from a real HTTP server on loopback, with retries off.
Each client runs in its own process and gets four seconds for each answer. The tools \`get_weather\` and \`get_time\` are declared.

${rows.map(({ name, packages }) => `- ${name}: ${packages}`).join("\n")}

The comparison favours the other clients:

- For the other clients, only text, calls and the kind of ending are compared. Bowline must also get reasoning, stop reasons,
  error codes, retry delays, usage and opaque data right. It must give the same events when the bytes are cut at every place,
  into single bytes, and at 64 random sets of places.
- Any error counts as an error, whatever its message and however much of the answer it loses.
- "raw" is a plain loop over a client's stream that parses arguments strictly and reads the stop reason. No call of an answer
  that says it was cut counts as runnable. An answer that says it was filtered or failed counts as an error. The same holds for
  helpers, LangChain, pi-ai and Google's client, which hand calls over.
- The AI SDK and openai's \`runTools\` (the helper, on chat) run tools themselves; the calls that they ran are counted.
- A call with a name that no tool has, or whose arguments are not a JSON object, counts as visible, not as runnable.

The fixtures were written for Bowline's catalogue, so they contain mistakes that other clients were seen to make. A client that
does well on common servers can do badly here.

## What Bowline fails

${failures.length === 0 ? "Nothing." : failures.map(([fixture, { faults }]) => `- ${escape(nameOf(fixture))} (${fixture.protocol}): ${code(faults.join("; "))}`).join("\n")}

## Arguable expectations

${arguable.map((fixture) => `- ${escape(nameOf(fixture))} (${fixture.protocol}): ${fixture.note}`).join("\n")}
`;
}

/** Formats a fault as code. It may quote arbitrary text from a server. */
function code(text: string): string {
  const plain = text.replaceAll(/[^ -~…]+/g, "?").replaceAll("`", "'");
  return `\`${plain}\``;
}

function escape(text: string): string {
  return text.replaceAll(/[<>|*_[\]\\]/g, "\\$&");
}
