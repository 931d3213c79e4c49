/**
 * Kills the gateway and its clients at random while they work. At the end, checks that every client
 * got each event once, and none that is wrong.
 */
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { freePort } from "../../../../test/support/free-ports.ts";
import { GatewayClient } from "../../src/gateway/client/client.ts";
import { forkScript, type Forked } from "../gateway/forked.ts";
import { seeded } from "../gateway/seeded.ts";
import { answerApprovals } from "./answer-approvals.ts";
import { checkEnd } from "./check-end.ts";
import { ToolWatch } from "./tool-watch.ts";
import type { DrillClientsOptions, DrillClientsReport } from "./clients.ts";

export interface DrillOptions {
  readonly seconds: number;
  /**
   * Determines which process is killed when, and what clients do. What a kill interrupts depends on
   * timing.
   */
  readonly seed: number;
  /** The server file to run. Default: the one beside this file. */
  readonly server?: string;
  readonly onProgress?: (report: DrillReport) => void;
}

export interface DrillReport {
  serverKills: number;
  clientKills: number;
  /** Runs of the clients that survive to the end. */
  runs: number;
  steered: number;
  aborted: number;
  reconnects: number;
  snapshots: number;
  /** Messages that were acknowledged to any client. */
  accepted: number;
  executions: number;
  unknown: number;
  torn: number;
  readonly faults: string[];
}

const sessions = Array.from({ length: 12 }, (_, index) => `session ${index}`);
const QUIET_MS = 60_000;

export async function drill({
  seconds,
  seed,
  server: script,
  onProgress,
}: DrillOptions): Promise<DrillReport> {
  const folder = await mkdtemp(join(tmpdir(), "bowline-drill-"));
  await mkdir(join(folder, "facts"));
  const random = seeded(seed);
  const report: DrillReport = {
    serverKills: 0,
    clientKills: 0,
    runs: 0,
    steered: 0,
    aborted: 0,
    reconnects: 0,
    snapshots: 0,
    accepted: 0,
    executions: 0,
    unknown: 0,
    torn: 0,
    faults: [],
  };
  const tools = new ToolWatch(folder, sessions);
  const token = "the-token-of-the-drill";
  const port = await freePort(random);
  const url = `ws://127.0.0.1:${port}`;
  const deadline = performance.now() + seconds * 1000;
  const isOn = (): boolean => performance.now() < deadline && report.faults.length === 0;
  let clients = 0;
  try {
    let server = await startServer();
    const survivors = await startClients();
    const lanes = [mortals(), mortals(), kills()];
    await Promise.all(lanes);
    const client = new GatewayClient({
      url,
      token,
      WebSocket,
      backoff: { firstMs: 20, maxMs: 200 },
    });
    await client.ready();
    answerApprovals(client);
    const { faults, ...counts } = await survivors.ask<DrillClientsReport>("finish");
    Object.assign(report, counts);
    report.faults.push(...faults);
    await calmDown(client);
    if (report.faults.length === 0) {
      const checked = await checkEnd(client, folder, sessions);
      report.faults.push(...checked.faults);
      Object.assign(report, { ...checked, faults: report.faults });
    }
    client.close();
    await survivors.kill();
    const stopped = await Promise.race([
      server.ask("stop"),
      sleep(QUIET_MS, "late", { ref: false }),
    ]);
    if (stopped === "late") report.faults.push("the server does not stop");
    await server.kill();
    report.faults.push(...(await tools.look()));
    report.executions = tools.executions;
    report.unknown = tools.unknown;

    async function startServer(): Promise<Forked> {
      const started = await forkScript(script ?? join(import.meta.dirname, "server.ts"), {
        folder,
        token,
        port,
      });
      return started;
    }

    /** Kills and restarts the server until the time is over. */
    async function kills(): Promise<void> {
      while (isOn()) {
        const why = await Promise.race([server.ended, sleep(200 + random() * 2200)]);
        if (why !== undefined) report.faults.push(`the server is gone: ${why}`);
        await server.kill();
        report.serverKills++;
        report.faults.push(...(await tools.look()));
        await sleep(random() * 300);
        server = await startServer();
        onProgress?.(report);
      }
    }
  } catch (error) {
    report.faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return report;

  function startClients(): Promise<Forked> {
    const name = `client${clients++}`;
    const own = {
      url,
      token,
      name,
      seed: seed + clients,
      facts: join(folder, "facts", name),
      sessions,
    };
    return forkScript(join(import.meta.dirname, "clients.ts"), own satisfies DrillClientsOptions);
  }

  /** Kills clients after a while, and starts others in their place. */
  async function mortals(): Promise<void> {
    while (isOn()) {
      const mortal = await startClients();
      await sleep(Math.min(500 + random() * 4500, Math.max(0, deadline - performance.now())));
      await mortal.kill();
      report.clientKills++;
    }
  }

  /**
   * Waits for the runs of dead clients to end, and sends a message to each session so that held
   * messages are used.
   */
  async function calmDown(client: GatewayClient): Promise<void> {
    let limit = performance.now() + QUIET_MS;
    while ((await client.request("health.check", {})).runs > 0) {
      if (performance.now() > limit) return void report.faults.push("runs go on without end");
      await sleep(50);
    }
    for (const sessionKey of sessions) {
      const run = await client.send({
        sessionKey,
        message: `task last-of-${sessionKey.replace(" ", "-")} 0 3`,
      });
      const outcome = await Promise.race([
        run.result(),
        sleep(QUIET_MS, undefined, { ref: false }),
      ]);
      if (outcome?.end.event !== "chat.final")
        report.faults.push(`${sessionKey}: the last run: ${outcome?.end.event}`);
    }
    limit = performance.now() + QUIET_MS;
    // The last file is removed after the last event.
    const pending = join(folder, "pending");
    while (existsSync(pending) && readdirSync(pending).length > 0 && performance.now() < limit)
      await sleep(20);
  }
}
