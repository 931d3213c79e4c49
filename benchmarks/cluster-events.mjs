// The cost of a delta: in one process, and from a worker over NATS to a gateway, each a process of its
// own. Prints processor time and bytes a delta, and the delay. Needs nats-server.
// `node --conditions=@bowline/source benchmarks/cluster-events.mjs [deltas]`
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { systemClock } from "@bowline/core";
import { connectNats, Relay, RunPublisher } from "@bowline/cluster";
import { createMemoryStore, createSession } from "@bowline/core/session";
import { createRunFeed, createSecretFilter } from "bowline/engine";
import { defaultLimits } from "bowline/gateway";
import { startNats } from "../cluster/kit/nats.ts";
import { Listeners } from "../packages/bowline/src/gateway/server/listeners.ts";
import { delta } from "../test/support/agent-events.ts";

const [first, second] = process.argv.slice(2);
const isWorker = first === "worker";
const count = Number((isWorker ? second : first) ?? 50_000);
const about = { sessionKey: "s", runId: "r", attempt: 1, isRepeated: false };
const filter = createSecretFilter(["a-secret-of-a-benchmark"]);
/** Deltas at a time, with a pause after each batch, as of many streams. */
const BATCH = 20;

if (isWorker) await work(process.argv[4]);
else await compare();

async function work(servers) {
  const bus = await connectNats({ servers });
  const publisher = new RunPublisher({ bus, filter });
  publisher.tell(about, delta("r", "begin "));
  await bus.flush();
  process.send("ready");
  await once(process, "message");
  const { ms } = await measured(() => streamAll((text) => publisher.tell(about, delta("r", text))));
  await bus.flush();
  process.send({ ms });
  publisher.close();
  await bus.close();
  process.disconnect();
}

async function compare() {
  const rows = [await alone(), await overNats()];
  console.table(Object.fromEntries(rows.map(({ name, ...figures }) => [name, figures])));
}

/** A run's events in the process that has its client. */
async function alone() {
  const { listeners, heard, listener } = client();
  listeners.subscribe(listener, "s");
  const feed = createRunFeed({
    ...about,
    filter,
    limits: defaultLimits,
    clock: systemClock,
    workingDir: "/",
    publish: ({ frame, event }) => listeners.publish("s", frame, event),
  });
  const { ms } = await measured(() => streamAll((text) => feed.tell(delta("r", text))));
  const { bytes, delays } = heard;
  return row("one process", { all: ms, worker: ms, gateway: 0, bytes, wire: 0, delays });
}

async function overNats() {
  const folder = mkdtempSync(join(tmpdir(), "bowline-bench-"));
  const nats = await startNats(folder);
  const child = spawn(
    process.execPath,
    ["--conditions=@bowline/source", import.meta.filename, "worker", String(count), nats.url],
    { stdio: ["ignore", "inherit", "inherit", "ipc"] },
  );
  const { listeners, heard, listener } = client();
  const bus = await connectNats({ servers: nats.url });
  let wire = 0;
  const counting = {
    __proto__: bus,
    get maxPayload() {
      return bus.maxPayload;
    },
    get isConnected() {
      return bus.isConnected;
    },
    publish: (...sent) => bus.publish(...sent),
    flush: () => bus.flush(),
    createInbox: () => bus.createInbox(),
    onReconnect: (listen) => bus.onReconnect(listen),
    subscribe: (subject, listen) =>
      bus.subscribe(subject, (message) => {
        wire += message.payload.length;
        listen(message);
      }),
  };
  const store = createMemoryStore();
  await (await createSession(store, { id: "s" })).append({ type: "run_start", runId: "r" });
  const { clock } = { clock: systemClock };
  const limits = defaultLimits;
  const relay = new Relay({ bus: counting, clients: listeners, store, filter, limits, clock });
  try {
    await once(child, "message");
    const { missed } = await relay.follow({ sessionKey: "s", runId: "r" });
    missed();
    listeners.subscribe(listener, "s");
    wire = 0;
    const done = once(child, "message");
    child.send("go");
    const isDone = done.then(() => true);
    const { ms } = await measured(async () => {
      while (!(await Promise.race([isDone, setTimeout(100, false)])));
      await setTimeout(500); // what is on its way
    });
    const [{ ms: worker }] = await done;
    const { bytes, delays } = heard;
    if (delays.length !== count) throw new Error(`${delays.length} of ${count} deltas arrived`);
    return row("over NATS", { all: ms + worker, worker, gateway: ms, bytes, wire, delays });
  } finally {
    relay.close();
    await bus.close();
    await nats[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A client that notes the delay of each delta, whose text is the time at which it was made. */
function client() {
  const listeners = new Listeners();
  const heard = { bytes: 0, delays: [] };
  const listener = {
    event: (name, { json }) => {
      if (name !== "chat.delta") return;
      const sent = Number(/"text":"([\d.]+) "/.exec(json)?.[1]);
      heard.bytes += json.length;
      heard.delays.push(performance.timeOrigin + performance.now() - sent);
    },
  };
  listeners.add(listener);
  return { listeners, heard, listener };
}

async function streamAll(tell) {
  for (let index = 0; index < count; index++) {
    tell(`${performance.timeOrigin + performance.now()} `);
    if (index % BATCH === BATCH - 1) await setTimeout(1);
  }
}

async function measured(run) {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1000 };
}

function row(name, { all, worker, gateway, bytes, wire, delays }) {
  const each = (ms) => Number(((ms * 1000) / count).toFixed(1));
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (part) => Number((sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(2));
  return {
    name,
    "µs a delta": each(all),
    "in the worker": each(worker),
    "in the gateway": each(gateway),
    "bytes to the client": Math.round(bytes / count),
    "bytes on the bus": Math.round(wire / count),
    "delay p50 ms": at(0.5),
    "delay p99 ms": at(0.99),
  };
}
