// npm run drill: kills the gateway and its clients at random for two minutes under load. Exits with
// 1 and the findings. `-- --seconds=8` is shorter, and `--seed=N` repeats the times of the kills.
// `--broken=` runs on deliberately broken copies whose names contain the words.
import { parseArgs } from "node:util";
import { breakages, breakCopy } from "../packages/bowline/test/drill/broken-copy.ts";
import { drill } from "../packages/bowline/test/drill/drill.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "120" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    broken: { type: "string" },
  },
});
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
if (!(seconds >= 1) || !Number.isInteger(seed)) {
  console.error("drill.mjs [--seconds=1 or more] [--seed=N] [--broken=words of its name]");
  process.exit(2);
}
console.log(`seed ${seed}`);
let isGood = true;
if (values.broken !== undefined) await tryBroken();
else await tryOwn();
process.exit(isGood ? 0 : 1);

async function tryOwn() {
  const { faults, ...counts } = await drill({ seconds, seed, onProgress: show });
  process.stderr.write("\n");
  console.log(`${list(counts)}; ${seconds} s`);
  for (const fault of faults) console.log(`FAULT ${fault}`);
  console.log(
    faults.length === 0 ? "nothing was lost, repeated or left open" : `${faults.length} faults`,
  );
  isGood = faults.length === 0;
}

async function tryBroken() {
  for (const [what, breakage] of Object.entries(breakages)) {
    if (!what.includes(values.broken)) continue;
    await using broken = await breakCopy(breakage);
    const { faults, serverKills } = await drill({
      seconds,
      seed,
      server: broken.server,
      onProgress: show,
    });
    const found = faults.find((fault) => breakage.found.test(fault));
    if (found === undefined) isGood = false;
    process.stderr.write("\n");
    console.log(
      found === undefined
        ? `NOT FOUND: ${what} (${faults[0] ?? "nothing"})`
        : `found after ${serverKills} kills: ${what} (${found.split("\n")[0].slice(0, 150)})`,
    );
  }
}

function show({ serverKills, clientKills, faults }) {
  process.stderr.write(
    `\r${serverKills} kills of the server, ${clientKills} of clients, ${faults.length} faults `,
  );
}

function list(counts) {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}
