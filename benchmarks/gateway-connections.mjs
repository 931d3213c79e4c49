// The memory of a gateway's connection: a gateway in a process of its own, and clients that each
// follow a session of theirs. Prints bytes a connection, in steps.
// `node --expose-gc --conditions=@bowline/source benchmarks/gateway-connections.mjs [connections]`
import { spawn } from "node:child_process";
import { once } from "node:events";
import { systemClock } from "@bowline/core";
import { createMemoryStore } from "@bowline/core/session";
import { startGateway } from "bowline/gateway";

const [first] = process.argv.slice(2);
const TOKEN = "a-token-of-a-benchmark";
/** Connections that are opened at a time. */
const BATCH = 100;
let sessions = 0;

if (first === "gateway") await serve();
else await measure(Number(first ?? 8000));

async function serve() {
  const gateway = await startGateway({
    token: TOKEN,
    port: 0,
    store: createMemoryStore(),
    limits: { maxConnections: 100_000, maxStrangers: 10_000, tickIntervalMs: 3_600_000 },
    agents: () => {
      throw new Error("no run begins");
    },
  });
  process.on("disconnect", () => process.exit());
  process.on("message", () => {
    global.gc();
    global.gc();
    const { rss, heapUsed, external } = process.memoryUsage();
    process.send({ rss, heapUsed, external, cpu: process.cpuUsage(), at: systemClock.now() });
  });
  process.send({ url: gateway.url.replace("http", "ws") });
}

async function measure(count) {
  const gateway = spawn(
    process.execPath,
    ["--expose-gc", "--conditions=@bowline/source", import.meta.filename, "gateway"],
    { stdio: ["ignore", "inherit", "inherit", "ipc"] },
  );
  const [{ url }] = await once(gateway, "message");
  const usage = async () => {
    gateway.send("usage");
    const [figures] = await once(gateway, "message");
    return figures;
  };
  const sockets = [];
  const before = await usage();
  const rows = [];
  for (const target of [count / 4, count / 2, count]) {
    const began = performance.now();
    const { cpu: cpuBefore } = await usage();
    const opened = target - sockets.length;
    while (sockets.length < target)
      sockets.push(...(await Promise.all(Array.from({ length: BATCH }, () => connect(url)))));
    const ms = performance.now() - began;
    const { rss, heapUsed, external, cpu } = await usage();
    const each = (after, start) => Math.round((after - start) / sockets.length);
    rows.push({
      connections: sockets.length,
      "resident bytes each": each(rss, before.rss),
      "heap bytes each": each(heapUsed + external, before.heapUsed + before.external),
      "opened a second": Math.round((opened / ms) * 1000),
      "µs of processor each": Math.round(
        (cpu.user + cpu.system - cpuBefore.user - cpuBefore.system) / opened,
      ),
    });
  }
  console.table(rows);
  for (const socket of sockets) socket.close();
  gateway.kill("SIGKILL");
}

async function connect(url) {
  const socket = new WebSocket(url);
  const answered = new Promise((resolve, reject) => {
    socket.addEventListener("error", reject);
    socket.addEventListener("message", ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.error !== undefined) reject(new Error(JSON.stringify(frame.error)));
      else if (frame.id === "1") resolve();
      else if (frame.type === "auth") socket.send(JSON.stringify(subscription()));
    });
  });
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "auth", token: TOKEN }));
  await answered;
  return socket;
}

function subscription() {
  return { id: "1", method: "chat.subscribe", params: { sessionKey: `session-${sessions++}` } };
}
