// npm run build && node --conditions=@bowline/source benchmarks/terminal.mjs [--pi=<its cli.js>] [--quick]
// The conversation on a pseudo-terminal of 100x36 with a model server on loopback: the time to the
// first frame, the time from a key to the screen and the bytes and processor time per token at 2,000
// tokens a second, and the memory over a long session: resident (rssMb), and in a second session what
// the heap holds after a garbage collection (heldMb) and the size of its young generation (youngMb).
// With --pi, the same for pi (its command). --part=start,stream,memory measures only these.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MODEL, openVendor, tokensOf } from "../packages/bowline/test/terminal/vendor.ts";
import { openPty } from "./terminal-pty.mjs";

const { values: options } = parseArgs({
  options: {
    pi: { type: "string" },
    quick: { type: "boolean" },
    only: { type: "string" },
    part: { type: "string", default: "start,stream,memory" },
  },
});
const wanted = new Set(options.part.split(","));
const RATE = 2000;
const SECONDS = options.quick ? 2 : 5;
const STARTS = options.quick ? 3 : 10;
const MESSAGES = options.quick ? 100 : 2000;
const KEY_MS = 90;
/** Letters that the streamed text does not have. */
const letters = [...Array(50).keys()].map((index) => String.fromCodePoint(0x0430 + index));

const home = mkdtempSync(join(tmpdir(), "bowline-bench-"));
process.once("exit", () => rmSync(home, { recursive: true, force: true }));

const vendor = await openVendor(({ last }) => {
  if (last.includes("stream"))
    return [{ text: markdown, rate: RATE }, { text: "\n\nEnd-of-it.\n" }];
  return `Answer ${last.trim()}.`;
});
const block = `## Why the cache misses

The key holds the *whole* request, with its \`timeout\`. Two calls that differ only in **patience** therefore
never share an entry:

\`\`\`ts
export function keyOf(request: Request): string {
  const { url, method, headers } = request;
  return [method, url, headers.get("accept") ?? "*/*"].join(" ");
}
\`\`\`

1. Remove the timeout from the key.
2. Keep the method, since \`HEAD\` has no body.
   - [x] done in \`cache.ts\`
   - [ ] open in \`lock.ts\`

| request | before | after |
| ------- | -----: | ----: |
| GET     |   41 % |  93 % |
| HEAD    |    0 % |  88 % |

> A hit costs 0.2 ms, a miss 180 ms, so the change is worth a release of its own.

`;
const markdown = block.repeat(Math.ceil((RATE * SECONDS) / tokensOf(block).length));
const tokens = tokensOf(markdown).length;

const programs = [
  {
    name: "bowline",
    command: [
      process.execPath,
      join(import.meta.dirname, "../packages/bowline/bin/bowline.js"),
      "chat",
      `--base-url=${vendor.baseUrl}`,
      `--model=${MODEL}`,
    ],
    env: { HOME: home, BOWLINE_DISCOVERY: "off" },
  },
  ...(options.pi === undefined ? [] : [pi(options.pi)]),
].filter(({ name }) => options.only === undefined || options.only === name);

/** Each program gets an empty folder, so that none spends time on the files of a project. */
const cwd = join(home, "work");
mkdirSync(cwd);

const rows = [];
for (const program of programs) rows.push(await measure(program));
for (const row of rows) console.log(JSON.stringify(row));
await vendor[Symbol.asyncDispose]();

async function measure(program) {
  return {
    name: program.name,
    ...(wanted.has("start") && (await startsOf(program))),
    ...(wanted.has("stream") && (await streamsOf(program))),
    ...(wanted.has("memory") && (await memoryOf(program))),
  };
}

async function startsOf(program) {
  const node = median(await runs(STARTS, startOfNode));
  console.log(`node -e 0: ${node.toFixed(0)} ms`);
  const starts = await runs(STARTS, () => start(program));
  return {
    firstFrameMs: round(median(starts.map(({ frame }) => frame))),
    overNodeMs: round(median(starts.map(({ frame }) => frame)) - node),
    modelNamedMs: round(median(starts.map(({ named }) => named))),
  };
}

async function streamsOf(program) {
  const streamed = await stream(program, false);
  const typed = await stream(program, true);
  return {
    bytesPerToken: round(streamed.bytes / tokens, 1),
    cpuMsPerSecond: round(streamed.cpuMs / streamed.seconds),
    keyP50Ms: round(typed.latencies.at(Math.floor(typed.latencies.length / 2))),
    keyP95Ms: round(typed.latencies.at(Math.floor(typed.latencies.length * 0.95))),
    keyMaxMs: round(typed.latencies.at(-1)),
    streamSeconds: round(streamed.seconds, 1),
  };
}

/** A garbage collection changes what is resident, so that each needs a session of its own. */
async function memoryOf(program) {
  const { measured: rss, seconds } = await longSession(program, (pty) => pty.rssMb());
  const file = join(home, "heap.json");
  const [node, ...words] = program.command;
  const probe = join(import.meta.dirname, "terminal-heap.mjs");
  const probed = {
    ...program,
    command: [node, `--import=${probe}`, ...words],
    env: { ...program.env, BOWLINE_BENCH_HEAP: file },
  };
  const { measured: heap } = await longSession(probed, async (pty) => {
    rmSync(file, { force: true });
    pty.signal("SIGUSR2");
    await pty.when(() => existsSync(file));
    return JSON.parse(readFileSync(file, "utf8"));
  });
  const toMb = (bytes) => round(bytes / 2 ** 20);
  return {
    rssMb: rss.map((one) => round(one)),
    heldMb: heap.map(({ held }) => toMb(held)),
    youngMb: heap.map(({ young }) => toMb(young)),
    sessionSeconds: round(seconds),
  };
}

async function startOfNode() {
  const pty = openPty({ command: [process.execPath, "-e", "0"], cwd, env: {} });
  await pty.ended;
  return performance.now() - pty.started;
}

/** Both programs draw each frame as one synchronized update. */
async function start(program) {
  const pty = await opened(program);
  await pty.close();
  return { frame: pty.frame - pty.started, named: pty.named - pty.started };
}

/** Opens a program, and waits for the frame that names the model. */
async function opened({ command, env }) {
  // Each run has data of its own, so that no draft of an earlier one comes back.
  const data = { BOWLINE_HOME: mkdtempSync(join(home, "data-")) };
  const pty = openPty({ command, cwd, env: { ...env, ...data } });
  const frame = await pty.until("\u001b[?2026l");
  const named = await pty.until(MODEL);
  return Object.assign(pty, { frame, named });
}

async function stream(program, isTyping) {
  const pty = await opened(program);
  await pause(500);
  pty.write("stream");
  await pause(200);
  const before = { bytes: pty.bytes(), cpuMs: pty.cpuMs(), at: performance.now() };
  pty.write("\r");
  await pty.until("cache", pty.output().length);
  const latencies = [];
  for (const letter of isTyping ? letters : []) {
    if (pty.output().includes("End-of-it")) break;
    const from = pty.output().length;
    const pressed = performance.now();
    pty.write(letter);
    latencies.push((await pty.until(letter, from)) - pressed);
    // Out of step with any frame.
    await pause(KEY_MS * (0.5 + Math.random()));
  }
  const at = await pty.until("End-of-it");
  await pause(100);
  const after = { bytes: pty.bytes(), cpuMs: pty.cpuMs() };
  await pty.close();
  return {
    bytes: after.bytes - before.bytes,
    cpuMs: after.cpuMs - before.cpuMs,
    seconds: (at - before.at) / 1000,
    latencies: latencies.toSorted((a, b) => a - b),
  };
}

/** Half of the messages are prompts, the other half their answers. Measures five times. */
async function longSession(program, measured) {
  const pty = await opened(program);
  await pause(500);
  const all = [await measured(pty)];
  const prompts = MESSAGES / 2;
  const started = performance.now();
  for (let index = 1; index <= prompts; index += 1) {
    const asked = vendor.asked.length;
    pty.write(`n${index}`);
    await pause(20);
    pty.write("\r");
    await pty.when(() => vendor.asked.length > asked);
    await vendor.asked[asked].ended;
    await pty.quiet(40);
    if (index % Math.round(prompts / 4) === 0) all.push(await measured(pty));
  }
  const seconds = (performance.now() - started) / 1000;
  await pty.close();
  return { measured: all, seconds };
}

function pi(cli) {
  const agent = join(home, "pi");
  mkdirSync(agent);
  const model = { id: MODEL, contextWindow: 1_000_000 };
  const provider = {
    baseUrl: vendor.baseUrl,
    api: "openai-completions",
    apiKey: "none",
    models: [model],
  };
  writeFileSync(join(agent, "models.json"), JSON.stringify({ providers: { bench: provider } }));
  return {
    name: "pi",
    command: [process.execPath, cli, "--provider", "bench", "--model", MODEL],
    env: { HOME: home, PI_CODING_AGENT_DIR: agent, PI_OFFLINE: "1", PI_TELEMETRY: "0" },
  };
}

async function runs(count, run) {
  const all = [];
  for (let index = 0; index < count; index += 1) all.push(await run());
  return all;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function round(value, digits = 0) {
  return Number(value?.toFixed(digits));
}
