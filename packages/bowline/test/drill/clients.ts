/**
 * Clients that work and lose their connection: `clients.ts <{url, token, name, seed, facts,
 * sessions}>`. Some use the library's client, which reconnects by itself. Others are bare sockets
 * that follow the protocol's description. All of them write down the facts they are sure of.
 */
import { openSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { GatewayClient, RequestError } from "../../src/gateway/client/client.ts";
import { answerParent } from "../gateway/forked.ts";
import { seeded } from "../gateway/seeded.ts";
import { answerApprovals } from "./answer-approvals.ts";
import { BareClient } from "./bare-client.ts";
import { RunWatch } from "./run-watch.ts";
import { answerOf, messageOf, type Fact, type Task } from "./task.ts";

export interface DrillClientsOptions {
  readonly url: string;
  readonly token: string;
  /** Unique among all processes. */
  readonly name: string;
  readonly seed: number;
  /** Path of the file for facts. */
  readonly facts: string;
  readonly sessions: readonly string[];
}

export interface DrillClientsReport {
  readonly runs: number;
  readonly steered: number;
  readonly aborted: number;
  readonly reconnects: number;
  readonly snapshots: number;
  readonly faults: readonly string[];
}

const OWN = 4;
const BARE = 4;
/** Limit from acceptance to end, including all kills, in milliseconds. */
const LONGEST_MS = 60_000;

const [options] = process.argv.slice(2);
if (options !== undefined) work(JSON.parse(options) as DrillClientsOptions);

function work({ url, token, name, seed, facts, sessions }: DrillClientsOptions): void {
  const file = openSync(facts, "a");
  const random = seeded(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const faults: string[] = [];
  const fault = (what: string): void =>
    void (faults.length < 20 && faults.push(`${name}: ${what}`));
  const say = (fact: Fact): void => void writeSync(file, `${JSON.stringify(fact)}\n`);
  const counts = { runs: 0, steered: 0, aborted: 0, reconnects: 0, snapshots: 0 };
  const end = new AbortController();
  /** The tasks in progress, as text. */
  const tasks = new Set<string>();
  let next = 0;
  const own = Array.from({ length: OWN }, () => ownClient());
  const bare = Array.from({ length: BARE }, () => bareClient());
  answerParent({
    async finish(): Promise<DrillClientsReport> {
      end.abort();
      const late = sleep(2 * LONGEST_MS, "late", { ref: false });
      if ((await Promise.race([Promise.all([...own, ...bare]), late])) === "late")
        fault(`there is no end of ${[...tasks].join(", ")}`);
      return { ...counts, faults };
    },
  });

  function newTask(): Task {
    return {
      name: `${name}-${next++}`,
      calls: Math.floor(random() * 4),
      words: 5 + Math.floor(random() * 40),
    };
  }

  async function ownClient(): Promise<void> {
    const client = new GatewayClient({
      url,
      token,
      name,
      WebSocket,
      backoff: { firstMs: 20, maxMs: 300 },
    });
    client.onState((state) => void (state === "open" && counts.reconnects++));
    answerApprovals(client);
    while (!end.signal.aborted) {
      const [sessionKey, task] = [pick(sessions), newTask()];
      const words = `${task.name} in ${sessionKey}`;
      tasks.add(words);
      try {
        await ownTask(client, sessionKey, task);
      } catch (error) {
        if (!(error instanceof RequestError) || !error.retryable)
          fault(`${task.name}: ${String(error)}`);
        await sleep(20); // the session's queue is full
      }
      tasks.delete(words);
    }
    client.close();
  }

  async function ownTask(client: GatewayClient, sessionKey: string, task: Task): Promise<void> {
    const text = messageOf(task);
    const watch = new RunWatch(task, (what) => fault(what));
    const idempotencyKey = `run-${task.name}`;
    const stop = client.onEvent((frame) => {
      if ("runId" in frame.data && frame.data.runId === idempotencyKey) watch.take(frame);
    });
    try {
      const run = await client.send({ sessionKey, message: text, idempotencyKey });
      const { runId } = run;
      say({ type: "accepted", sessionKey, runId, text, isOwnRun: true, at: Date.now() });
      counts.runs++;
      const what = random();
      if (what < 0.15) await steer(client, sessionKey, `steer ${task.name}`);
      else if (what < 0.25) {
        await sleep(random() * 100);
        watch.mayAbort = true;
        say({ type: "aborting", sessionKey, runId });
        await run.abort().then(
          () => {
            counts.aborted++;
            watch.stopped();
          },
          () => {}, // the connection was lost, so the outcome is unknown
        );
      }
      const outcome = await Promise.race([
        run.result(),
        sleep(LONGEST_MS, undefined, { ref: false }),
      ]);
      if (outcome === undefined) return fault(`${runId} did not end; seen to ${watch.seq}`);
      say({ type: "ended", runId });
      if (outcome.end.event === "chat.final" && outcome.text !== answerOf(task))
        fault(`${runId} ended with ${JSON.stringify(outcome.text)}`);
    } catch (error) {
      // A queued run that was stopped leaves nothing that a server could know after a crash.
      if (!watch.mayAbort) throw error;
    } finally {
      watch.check();
      counts.snapshots += watch.snapshots;
      stop();
    }
  }

  /**
   * Steers whatever run is active. Not resent, because the outcome is unknown without an answer.
   */
  async function steer(client: GatewayClient, sessionKey: string, text: string): Promise<void> {
    try {
      const { runId, status } = await client.request("chat.steer", { sessionKey, message: text });
      say({
        type: "accepted",
        sessionKey,
        runId,
        text,
        isOwnRun: status !== "steered",
        at: Date.now(),
      });
      counts.steered++;
    } catch (error) {
      if (!(error instanceof RequestError) || !error.retryable) fault(`steer: ${String(error)}`);
    }
  }

  async function bareClient(): Promise<void> {
    const client = new BareClient(url, token);
    while (!end.signal.aborted) {
      const [sessionKey, task] = [pick(sessions), newTask()];
      const [runId, text] = [`run-${task.name}`, messageOf(task)];
      const watch = new RunWatch(task, (what) => fault(what));
      const params = { sessionKey, message: text, idempotencyKey: runId };
      const words = `${task.name} in ${sessionKey}, by a bare socket`;
      tasks.add(words);
      const isAccepted = await client
        .send(params, watch)
        .catch((error: unknown) => fault(`${runId}: ${String(error)}`));
      if (isAccepted !== true) {
        tasks.delete(words);
        await sleep(20);
        continue;
      }
      say({ type: "accepted", sessionKey, runId, text, isOwnRun: true, at: Date.now() });
      counts.runs++;
      const limit = performance.now() + LONGEST_MS;
      while (!watch.isEnded && performance.now() < limit) {
        if (random() < 0.01) client.drop();
        // Acts like a client that never got the answer.
        if (random() < 0.01)
          await client.send(params, watch, true).catch((error: unknown) => fault(String(error)));
        await client.follow(sessionKey, runId, watch);
        await sleep(10);
      }
      if (!watch.isEnded) fault(`${runId} did not end; seen to ${watch.seq}`);
      else say({ type: "ended", runId });
      watch.check();
      counts.snapshots += watch.snapshots;
      tasks.delete(words);
    }
    counts.reconnects += client.connects;
    client.drop();
  }
}
