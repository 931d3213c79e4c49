// npm run mutate: takes legal streams of the four wires and loses, doubles, swaps, moves or cuts
// one or two events, or adds an error.
// Each mutant is read by an independent acceptor and by this library, and its calls are run. The
// exit code is 1 on any finding.
//   --quick           about a thousand mutants for each wire, for `npm run check`
//   --seed=1          the same seed gives the same mutants
//   --wire=NAME       one wire only
//   --mutants=50000   the number of distinct mutants for each wire, at least
//   --only=ID         one mutant, with its bytes and its result
//   --json            a line of JSON for each finding and for each wire
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { wires, type Wire } from "./acceptors/accept.ts";
import { recordedAnswers } from "./bases.ts";
import { explain } from "./explain.ts";
import { printResults } from "./report.ts";
import { search, type WireResult } from "./search.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
    wire: { type: "string" },
    mutants: { type: "string" },
    only: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed);
const mutants = Number(values.mutants ?? (values.quick ? 1_200 : 50_000));
const chosen = wires.filter((wire) => values.wire === undefined || values.wire === wire);
if (!Number.isInteger(seed) || !Number.isInteger(mutants) || mutants < 1 || chosen.length === 0) {
  console.error(`mutate/run.ts [--quick] [--seed=N] [--wire=${wires.join("|")}] [--mutants=N]`);
  process.exit(2);
}
process.exitCode = values.only === undefined ? await searchAll(chosen) : await explain(values.only);

async function searchAll(of: readonly Wire[]): Promise<number> {
  const say = values.json ? console.error : console.log;
  say(`seed ${seed}`);
  if (of.some((wire) => recordedAnswers(wire) === undefined))
    say("no recordings here: generated streams only (set BOWLINE_RECORDINGS)");
  const started = performance.now();
  const total = mutants * of.length;
  const progress = { done: 0, findings: 0 };
  const show = (): void => {
    process.stderr.write(`\r${progress.done} of ${total} mutants, ${progress.findings} findings `);
  };
  show();
  const timer = setInterval(show, 1000);
  const results = await search({
    wires: of,
    seed,
    mutants,
    generated: values.quick ? 24 : 200,
    workers: availableParallelism(),
    onProgress: (done, findings) => Object.assign(progress, { done, findings }),
  });
  clearInterval(timer);
  process.stderr.write("\n");
  if (values.json) results.forEach(printJson);
  else printResults(results, console.log);
  say(`\n${((performance.now() - started) / 1000).toFixed(0)} s`);
  return conclude(results, say);
}

/** Returns the exit code. A run that made fewer mutants than requested has shown nothing. */
function conclude(results: readonly WireResult[], say: (line: string) => void): number {
  const short = results.filter(({ hashes }) => hashes.size < mutants);
  for (const { wire, hashes } of short)
    say(`${wire}: only ${hashes.size} distinct mutants, and ${mutants} were asked for`);
  const found = results.reduce((sum, { findings }) => sum + findings.length, 0);
  say(found === 0 ? "nothing was found" : `${found} findings`);
  return found === 0 && short.length === 0 ? 0 : 1;
}

function printJson({ hashes, verdicts, findings, ...result }: WireResult): void {
  for (const finding of findings) console.log(JSON.stringify({ type: "finding", ...finding }));
  const counts = { distinct: hashes.size, verdicts: Object.fromEntries(verdicts) };
  console.log(JSON.stringify({ type: "wire", seed, ...result, ...counts }));
}
