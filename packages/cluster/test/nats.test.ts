/** Workers and gateways over a real NATS server. Skipped where it is not installed. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { connectNats } from "@bowline/cluster";
import { GatewayClient, type RunEvent } from "bowline/client";
import { WebSocket } from "ws";
import { natsIsMissing, startNats, type Nats } from "../../../cluster/kit/nats.ts";
import { answered, asked, delta, ended } from "../../../test/support/agent-events.ts";
import { openRun, secret, startRelayGateway, startWorker, token } from "./support/gateways.ts";
import { moveOften } from "./support/moves.ts";

describe("over NATS", { skip: natsIsMissing() }, () => {
  const folder = mkdtempSync(join(tmpdir(), "bowline-nats-"));
  let nats: Nats;
  before(async () => {
    nats = await startNats(folder);
  });
  after(async () => {
    await nats?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** One run, one worker, one gateway and its client. */
  async function oneRun(sessionKey: string): Promise<{
    readonly tell: (text: string) => void;
    readonly end: () => Promise<void>;
    readonly events: RunEvent[];
    readonly result: Promise<{ text: string }>;
    readonly worker: Awaited<ReturnType<typeof startWorker>>;
    readonly about: { sessionKey: string; runId: string; attempt: number; isRepeated: boolean };
    readonly url: string;
    close(): Promise<void>;
  }> {
    const about = { sessionKey, runId: `run of ${sessionKey}`, attempt: 1, isRepeated: false };
    const { store, session } = await openRun(sessionKey, about.runId);
    const worker = await startWorker(nats.url);
    const gateway = await startRelayGateway(nats.url, store);
    const url = `ws://127.0.0.1:${gateway.gateway.port}`;
    const client = new GatewayClient({ url, token, WebSocket });
    let text = "";
    const tell = (piece: string): void => {
      text += piece;
      worker.publisher.tell(about, delta(about.runId, piece));
    };
    tell("Begin. ");
    await client.ready();
    const run = await client.follow(sessionKey, about.runId);
    const events: RunEvent[] = [];
    const reading = (async () => {
      for await (const event of run) events.push(event);
    })();
    return {
      tell,
      events,
      worker,
      about,
      url,
      result: reading.then(() => run.result()),
      async end() {
        worker.publisher.tell(about, answered(about.runId, text));
        worker.publisher.tell(about, ended(about.runId));
        await session.append({ type: "run_end", runId: about.runId, reason: "done" });
      },
      async close() {
        client.close();
        worker.publisher.close();
        await gateway.close();
        await worker.bus.close();
      },
    };
  }

  it("a client that moves between two gateways 100 times gets each event once and in order", async () => {
    const { moves, events, snapshots } = await moveOften(nats.url, 100);
    assert.equal(moves, 100);
    assert.ok(events > 100);
    assert.equal(snapshots, 0, "the worker still had all events");
  });

  it("a run goes on while the server is down, and its client gets what it missed", async () => {
    const one = await oneRun("a server that dies");
    try {
      one.tell("Before. ");
      await until(() => one.events.length >= 2);
      await nats.kill();
      for (let count = 0; count < 20; count++) {
        one.tell(`${count} `);
        await setTimeout(10);
      }
      const seen = one.events.length;
      await nats.start();
      await until(() => one.events.length > seen);
      one.tell("After. ");
      await one.end();
      const { text } = await one.result;
      assert.match(text, /^Begin\. Before\. 0 1 2 .* 19 After\. $/);
    } finally {
      await one.close();
    }
  });

  it("the end of a run reaches a client, though the server was down when it ended", async () => {
    const one = await oneRun("an end that is lost");
    try {
      await until(() => one.events.length >= 1);
      await nats.kill();
      await one.end();
      await nats.start();
      assert.equal((await one.result).text, "Begin. ");
    } finally {
      await one.close();
    }
  });

  it("an event that is larger than a message arrives whole, and a larger one as a snapshot", async () => {
    const one = await oneRun("large events");
    try {
      await until(() => one.events.length >= 1);
      one.tell(`${"é".repeat(900_000)} `); // almost twice the limit of a message, in bytes
      await until(() => one.events.length >= 2);
      const { publisher } = one.worker;
      const call = asked(one.about.runId, "q", { command: "x".repeat(6_000_000) });
      publisher.tell(one.about, call);
      one.tell("After. ");
      await one.end();
      const { text } = await one.result;
      const names = one.events.map(({ event }) => event);
      assert.deepEqual(names.slice(0, 2), ["chat.snapshot", "chat.delta"]);
      assert.equal(names[2], "chat.snapshot");
      assert.match(text, /^Begin\. é+ ?[^]*After\. $/);
    } finally {
      await one.close();
    }
  });

  it("no secret is in a message of the bus, however it is cut", async () => {
    const spy = await connectNats({ servers: nats.url });
    let seen = "";
    const stops = ["bowline.run.*", "bowline.approvals"].map((subject) =>
      spy.subscribe(subject, ({ payload }) => (seen += Buffer.from(payload).toString())),
    );
    await spy.flush();
    const one = await oneRun("secrets");
    try {
      for (const piece of ["The key: ", ...Array.from(secret), ". "]) one.tell(piece);
      const { publisher } = one.worker;
      publisher.tell(one.about, asked(one.about.runId, "q", { command: `echo ${secret}` }));
      await one.end();
      await one.result;
      assert.match(seen, /approval_request/);
      assert.ok(!seen.includes(secret));
    } finally {
      for (const stop of stops) stop();
      await one.close();
      await spy.close();
    }
  });

  it("a client that does not read is disconnected, and costs the others nothing", async () => {
    const one = await oneRun("a slow client");
    const slow = new WebSocket(one.url);
    try {
      await new Promise((resolve) => slow.once("open", resolve));
      slow.send(JSON.stringify({ type: "auth", token, events: "all" }));
      await new Promise((resolve) => slow.once("message", resolve));
      const { sessionKey } = one.about;
      slow.send(JSON.stringify({ id: 1, method: "chat.subscribe", params: { sessionKey } }));
      await new Promise((resolve) => slow.once("message", resolve));
      slow.pause();
      for (let count = 0; count < 250; count++) {
        one.tell(`${"x".repeat(64 * 1024)} `);
        await setTimeout(2);
      }
      await one.end();
      assert.equal((await one.result).text.length, 7 + 250 * (64 * 1024 + 1));
      slow.resume();
      const code = await new Promise((resolve) => slow.once("close", resolve));
      assert.ok(code === 4413 || code === 1006, `closed with ${String(code)}`);
    } finally {
      slow.terminate();
      await one.close();
    }
  });
});

async function until(isTrue: () => boolean, limitMs = 15_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!isTrue()) {
    assert.ok(performance.now() < end, `never: ${String(isTrue)}`);
    await setTimeout(5);
  }
}
