/**
 * npm run conformance: runs every fixture through Bowline and, unless `--ours` is given, through
 * other popular clients. `npm run conformance -- Q031 Q04` selects the fixtures whose name starts
 * with one of the words, and shows each client's faults; `--details` shows them for all. Only a
 * full run writes docs/project/conformance.md. Exits with 1 if Bowline fails any fixture.
 */
import { availableParallelism } from "node:os";
import { nameOf, type Fixture, type ProtocolName } from "./fixture.ts";
import { judge, type Verdict } from "./judge.ts";
import { loadWire, readOurs } from "./ours.ts";
import { loadPeers, readPeer, type PeerClient } from "./peers.ts";
import { printTable, writeReport, type Row } from "./report.ts";
import { sections } from "./sections.ts";
import { serveFixtures } from "./serve.ts";

const words = process.argv.slice(2);
const narrow = words.filter((word) => !word.startsWith("--"));
const all: readonly Fixture[] = sections.flatMap(({ fixtures }) => fixtures);
const wanted = all.filter(
  (fixture) => narrow.length === 0 || narrow.some((word) => nameOf(fixture).startsWith(word)),
);

await using server = await serveFixtures(all);
const url = (fixture: Fixture): string => `${server.origin}/${all.indexOf(fixture)}/v1`;
const ours = await runOurs();
if (!words.includes("--ours")) {
  const rows = [ours, ...(await runPeers(await loadPeers()))];
  printTable(rows);
  if (narrow.length === 0) writeReport(rows);
}
process.exitCode = [...ours.verdicts.values()].every(({ faults }) => faults.length === 0) ? 0 : 1;

async function runOurs(): Promise<Row> {
  const started = performance.now();
  const verdicts = new Map<Fixture, Verdict>();
  const missing = new Set<ProtocolName>();
  for (const fixture of wanted) {
    const wire = await loadWire(fixture.protocol);
    if (wire === undefined) missing.add(fixture.protocol);
    else verdicts.set(fixture, await readOurs(wire, fixture, url(fixture)));
  }
  const failed = [...verdicts].filter(([, { faults }]) => faults.length > 0);
  for (const [fixture, verdict] of failed) say("FAIL", fixture, verdict);
  for (const protocol of missing) console.log(`${protocol}: not there yet`);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`Bowline: ${verdicts.size} fixtures, ${failed.length} failed, ${seconds} s`);
  return { name: "Bowline", packages: "this repository", verdicts };
}

/** Runs as many clients at a time as there are processors. */
async function runPeers(clients: readonly PeerClient[]): Promise<Row[]> {
  const rows: Row[] = [];
  const waiting = [...clients.entries()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [place, client] = next;
      const fixtures = wanted.filter(({ protocol }) => client.protocols.includes(protocol));
      const outcomes = await readPeer(client, fixtures, url);
      const verdicts = new Map(
        fixtures.map((fixture, index) => [fixture, judge(fixture, outcomes[index]!)]),
      );
      rows[place] = { name: client.name, packages: client.packages, verdicts };
      const showsAll = narrow.length > 0 || words.includes("--details");
      for (const [fixture, verdict] of verdicts)
        if (showsAll && verdict.faults.length > 0) say(client.name, fixture, verdict);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return rows;
}

function say(label: string, fixture: Fixture, { faults, unsafe, silent }: Verdict): void {
  console.log(
    `${label}${unsafe ? " UNSAFE" : ""}${silent ? " SILENT" : ""} ${nameOf(fixture)} (${fixture.protocol})`,
  );
  for (const fault of faults) console.log(`     ${fault}`);
}
