/** The scores of all clients, as a table on the screen and as docs/project/conformance.md. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { nameOf, type Fixture } from "./fixture.ts";
import type { Verdict } from "./judge.ts";
import { sections } from "./sections.ts";

export interface Row {
  readonly name: string;
  /** What was measured, with versions. */
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

/** A header, then a row a client: passed of total by section, then the totals. */
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

What servers of the four wire protocols send in fact, and what clients make of it. Each fixture is the exact bytes of one answer,
with what a client must make of them; a Q number is that of the [quirk](quirks.md). Written by \`npm run conformance\`, which
fails when Bowline fails a single fixture: there is no list of known failures.

${head}
| ${lines[0]!.map(() => "---").join(" | ")} |
${body.join("\n")}

${sections.map(({ letter, title, fixtures }) => `- ${letter}: ${title}, ${fixtures.length} fixtures`).join("\n")}

Each cell counts the fixtures of the protocols that the client speaks.

**Unsafe runs** are answers of which a tool call ran, or was handed over to be run, that must not run or that had other
arguments. **Silent losses** are answers that ended well although they were cut, failed or empty, or that lost text or calls
without a trace. Those on a fixture whose expectation is arguable (the list is below) are counted apart, in brackets.

## How it was measured

On ${new Date().toISOString().slice(0, 10)}, with Node ${process.versions.node}. Every client reads the same bytes from a real HTTP server on loopback, with retries off, in
a process of its own, and has four seconds an answer. The tools \`get_weather\` and \`get_time\` are declared.

${rows.map(({ name, packages }) => `- ${name}: ${packages}`).join("\n")}

The measure is kind to the others:

- Of the other clients only text, calls and the kind of ending are looked at. Bowline must also get reasoning, stop reasons,
  error codes, retry delays, usage and opaque data right, and give the same events when the bytes are cut at every place, one
  byte a chunk, and at 64 random sets of places.
- An error is an error, whatever it says and whatever of the answer it loses.
- "raw" is a plain loop over a client's stream that parses arguments strictly and reads the stop reason: nothing of an answer that
  says it was cut counts as runnable, and one that says it was filtered or failed counts as an error. The same holds for
  helpers, LangChain, pi-ai and Google's client, which hand calls over.
- The AI SDK and openai's \`runTools\` (the helper, on chat) run tools themselves; what they ran is what counts.
- A call under a name that no tool has, or with arguments that are no JSON object, is taken for visible, not for runnable.

The fixtures were written for Bowline's catalogue, so they hold what other clients were seen to get wrong; a client that does
well on common servers can do badly here.

## What Bowline fails

${failures.length === 0 ? "Nothing." : failures.map(([fixture, { faults }]) => `- ${escape(nameOf(fixture))} (${fixture.protocol}): ${code(faults.join("; "))}`).join("\n")}

## Arguable expectations

${arguable.map((fixture) => `- ${escape(nameOf(fixture))} (${fixture.protocol}): ${fixture.note}`).join("\n")}
`;
}

/** A fault quotes what a server sent, which may be anything. */
function code(text: string): string {
  const plain = text.replaceAll(/[^ -~…]+/g, "?").replaceAll("`", "'");
  return `\`${plain}\``;
}

function escape(text: string): string {
  return text.replaceAll(/[<>|*_[\]\\]/g, "\\$&");
}
