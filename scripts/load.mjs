// npm run load: puts load on the gateway for a minute: a thousand clients, a hundred readers over
// HTTP, and slow ones of both kinds, on two hundred concurrent runs. Compares it with a bare server
// of ws under the same load. Exits with 1 if a client lost, repeated or missed an event. `--
// --quick` runs a tenth of it for seconds, `--json` prints all figures.
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { runLoad } from "../packages/bowline/test/load/run-load.ts";
import { full, quick } from "../packages/bowline/test/load/shape.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean" }, json: { type: "boolean" }, seconds: { type: "string" } },
});
const usual = values.quick === true ? quick : full;
const shape = {
  ...usual,
  seconds: values.seconds === undefined ? usual.seconds : Number(values.seconds),
};
if (!(shape.seconds >= 1)) {
  console.error("load.mjs [--quick] [--json] [--seconds=1 or more]");
  process.exit(2);
}
const files = execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }).trim();
const needed = shape.sockets + shape.streams + shape.slow + 4 * shape.slowStreams + 500;
if (files !== "unlimited" && Number(files) < needed) {
  console.error(
    `A process may have ${files} files open here, and the server needs ${needed}: run \`ulimit -n ${needed}\` first.`,
  );
  process.exit(2);
}

const report = await runLoad(shape, (line) => process.stderr.write(`\r${line} `));
process.stderr.write("\n");
if (values.json === true) console.log(JSON.stringify(report, undefined, 2));
else print(report);
process.exit(report.faults.length === 0 ? 0 : 1);

function print({ shape: played, gateway, bare, faults }) {
  const { sockets, streams, slow, slowStreams, runs, deltas, paceMs, seconds } = played;
  console.log(
    `${sockets} clients, ${streams} over HTTP, ${slow} slow ones and ${slowStreams} over HTTP, ${runs} runs at a time, each ${deltas} deltas, one in ${paceMs} ms; ${seconds} s\n`,
  );
  printTable(compare(gateway, bare, sockets + slow));
  console.log("");
  for (const fault of faults) console.log(`FAULT ${fault}`);
  console.log(
    faults.length === 0 ? "nothing was lost, repeated or left open" : `${faults.length} faults`,
  );
}

/** Returns a table with a row for each figure, and columns for both servers and their ratio. */
function compare(gateway, bare, clients) {
  const ms = (value) => `${value.toFixed(1)} ms`;
  const megabytes = (bytes) => `${(bytes / 1024 / 1024).toFixed(0)} MB`;
  const each = ([empty, idle]) => `${((idle - empty) / 1024 / clients).toFixed(1)} kB`;
  return [
    ["", "gateway", "bare ws", "ratio"],
    row("delta latency, median", ({ p50 }) => p50, ms),
    row("delta latency, p99", ({ p99 }) => p99, ms),
    row("delta latency, most", ({ most }) => most, ms),
    row("over HTTP, median", ({ streams: { p50 } }) => p50, ms),
    row("over HTTP, p99", ({ streams: { p99 } }) => p99, ms),
    row(
      "frames a second",
      ({ framesPerSecond }) => framesPerSecond,
      (value) => value.toFixed(0),
    ),
    row(
      "processor, of one core",
      ({ cpu }) => cpu,
      (value) => `${(value * 100).toFixed(0)} %`,
    ),
    row(
      "processor for a frame",
      ({ cpuPerFrame }) => cpuPerFrame,
      (value) => `${value.toFixed(1)} µs`,
    ),
    row("loop held at most", ({ heldMs }) => heldMs, ms),
    row("memory without clients", ({ rss }) => rss[0], megabytes),
    ["memory for a client", each(gateway.used), each(bare.used), ""],
    row("memory under load, most", ({ rss }) => rss[2], megabytes),
    row("objects and buffers then", ({ used }) => used[2], megabytes),
    row("memory afterwards", ({ rss }) => rss[3], megabytes),
    row("objects and buffers then", ({ used }) => used[3], megabytes),
    ["clients' processor, of one core", percent(gateway.clientsCpu), percent(bare.clientsCpu), ""],
    ["runs to their end", gateway.runs, bare.runs, ""],
    ["deltas that were checked", gateway.deltas, bare.deltas, ""],
    [
      "slow readers cut off, back",
      `${gateway.slow.cutOff}, ${gateway.slow.back}`,
      `${bare.slow.cutOff}, 0`,
      "",
    ],
    [
      "slow over HTTP: runs, left",
      `${gateway.slowStreams.ended}, ${gateway.slowStreams.left}`,
      `${bare.slowStreams.ended}, 0`,
      "",
    ],
    ["joined deltas, snapshots", `${gateway.slow.joined}, ${gateway.slow.snapshots}`, "", ""],
  ];

  function row(name, pick, format) {
    const [ours, theirs] = [pick(gateway), pick(bare)];
    return [name, format(ours), format(theirs), (ours / theirs).toFixed(2)];
  }
}

function percent(share) {
  return `${(share * 100).toFixed(0)} %`;
}

function printTable(rows) {
  const widths = rows[0].map((_, column) =>
    Math.max(...rows.map((cells) => String(cells[column]).length)),
  );
  for (const cells of rows)
    console.log(
      cells
        .map((cell, column) => String(cell).padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    );
}
