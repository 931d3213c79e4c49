// npm run peers: compares our clients with the official ones. Both read each recording and then
// random streams, over loopback. Then the compiler checks random requests of ours against the
// official types. Installs the official clients in this folder on first use. Exits with 1 on any
// difference.
//   --random            random streams and requests only
//   --runs N            number of streams and requests per protocol, default 300
//   --seed S            repeat the run of a seed; --path P starts where that run failed
//   --protocol NAME     one protocol only
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { checkChatRequest, checkMessagesRequest } from "@bowline/core/testing";
import { anthropicPeers } from "./anthropic.mjs";
import { differences } from "./answer.mjs";
import { googlePeers } from "./google.mjs";
import { openaiPeers } from "./openai.mjs";
import { readOurs } from "./ours.mjs";
import { compareRandom } from "./random.mjs";
import { checkRequests } from "./requests.mjs";
import { responsesPeers } from "./responses.mjs";
import { loadRecordings, serve } from "./serve.mjs";

const here = import.meta.dirname;

const { values: options } = parseArgs({
  options: {
    random: { type: "boolean" },
    runs: { type: "string", default: "300" },
    seed: { type: "string" },
    path: { type: "string" },
    protocol: { type: "string" },
  },
});
install();
const recordings = options.random ? undefined : loadRecordings();
const { protocol, path } = options;
const runs = Number(options.runs);
const seed = Number(options.seed ?? Date.now() % 1_000_000);
const isEqual = recordings === undefined || (await compareAll(recordings));
const areStreamsEqual = await compareStreams();
process.exitCode = checkRequests({ runs, seed, protocol }) && areStreamsEqual && isEqual ? 0 : 1;

async function compareStreams() {
  const openai = await load("openai");
  const google = await loadGoogle();
  const peers = {
    "openai-chat": openaiPeers(openai),
    "anthropic-messages": anthropicPeers(await load("@anthropic-ai/sdk")),
    "openai-responses": responsesPeers(
      openai,
      await load("openai/lib/responses/ResponseAccumulator.mjs"),
    ),
    ...(google && { "google-generate": googlePeers(google) }),
  };
  if (protocol !== undefined && peers[protocol] === undefined)
    throw new Error(`No client reads ${protocol}.`);
  const chosen = protocol === undefined ? peers : { [protocol]: peers[protocol] };
  return compareRandom(chosen, { runs, seed, path });
}

async function compareAll(all) {
  const peers = {
    "openai-chat": openaiPeers(await load("openai")),
    "anthropic-messages": anthropicPeers(await load("@anthropic-ai/sdk")),
  };
  const server = await serve(all, {
    "openai-chat": checkChatRequest,
    "anthropic-messages": checkMessagesRequest,
  });
  const counts = { equal: 0, different: 0, refused: 0 };
  const started = performance.now();
  try {
    for (const recording of all) {
      const ours = await readOurs(recording.protocol, server.url(recording));
      for (const peer of peers[recording.protocol]) {
        const row = compare(peer, await peer.read(server.url(recording)), ours);
        counts[row.outcome]++;
        console.log(`${recording.file.padEnd(70)} ${peer.name.padEnd(17)} ${row.text}`);
      }
    }
  } finally {
    server.close();
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const { equal, different, refused } = counts;
  console.log(
    `${all.length} answers: ${equal} equal, ${refused} refused by the peer only, ${different} different, ${seconds} s`,
  );
  return different === 0;
}

/**
 * Compares two answers. If both clients fail, their errors must match. If only the peer fails,
 * there is nothing to compare.
 */
function compare(peer, theirs, ours) {
  if (theirs.failed === undefined) {
    const found = differences(theirs, peer.normalize?.(ours) ?? ours, peer.fields);
    if (ours.failed !== undefined) found.push(`ours failed: ${ours.failed}`);
    return found.length === 0 ? { outcome: "equal", text: "ok, equal" } : differing(found);
  }
  if (ours.failed === undefined) return { outcome: "refused", text: `refused: ${theirs.failed}` };
  // A helper that fails returns no content. A raw stream returns the content before the failure,
  // without usage.
  const found = differences(
    theirs,
    ours,
    peer.isRaw ? peer.fields.filter((field) => field !== "usage") : [],
  );
  if (!ours.failed.includes(theirs.failed))
    found.push(`failed: peer "${theirs.failed}", ours "${ours.failed}"`);
  return found.length === 0
    ? { outcome: "equal", text: `ok, both failed: ${ours.failed}` }
    : differing(found);
}

function differing(found) {
  return { outcome: "different", text: `DIFFERENT ${found.join("; ")}` };
}

function install() {
  const { devDependencies } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  const isInstalled = ([name, version]) => {
    const file = join(here, "node_modules", name, "package.json");
    return existsSync(file) && JSON.parse(readFileSync(file, "utf8")).version === version;
  };
  if (Object.entries(devDependencies).every(isInstalled)) return;
  console.log("installing the clients of peer-tests/package.json");
  const args = ["install", "--no-package-lock", "--no-audit", "--no-fund"];
  if (spawnSync("npm", args, { cwd: here, stdio: "inherit" }).status !== 0) process.exit(1);
}

/**
 * A plain import would not find the client: it may have just been installed, in a folder that the
 * root package does not know.
 */
function load(name, folder = here) {
  return import(pathToFileURL(createRequire(join(folder, "package.json")).resolve(name)).href);
}

/** Only the conformance run installs Google's client, since there are no recordings for it here. */
async function loadGoogle() {
  try {
    return await load("@google/genai", join(here, "..", "conformance"));
  } catch {
    console.log(
      "skipped: no random streams of google-generate (npm run conformance installs its client)",
    );
    return undefined;
  }
}
