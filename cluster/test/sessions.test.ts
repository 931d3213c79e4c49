/**
 * Sessions that are deleted, reset and forked while their runs go on, with workers that are stopped and
 * woken and a database that is restarted. `SEED` gives other moments.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { openSession, type AnyEntry } from "@bowline/core/session";
import { createPostgresStore } from "@bowline/postgres";
import { createRestateAdmin, type RestateAdmin } from "@bowline/restate";
import { TestClient } from "../../packages/bowline/test/gateway/gateway.ts";
import { seeded } from "../../packages/bowline/test/gateway/seeded.ts";
import { freePorts } from "../../test/support/free-ports.ts";
import { startClusterRig, token, type ClusterRig } from "../kit/cluster-rig.ts";
import { clusterIsMissing } from "../kit/harness.ts";
import { natsIsMissing } from "../kit/nats.ts";
import { NodeService } from "../kit/node-service.ts";
import type { Turn } from "../kit/outside.ts";
import { loopback } from "../kit/place.ts";
import { eventually } from "./scenarios.ts";

const SEED = Number(process.env.SEED ?? 1);

/** A conversation: its key, and what was said in it. */
interface Sent {
  readonly name: string;
  readonly runId: string;
}

describe(
  `sessions under fire, seed ${SEED}`,
  { skip: clusterIsMissing() || natsIsMissing() },
  () => {
    const random = seeded(SEED);
    const upTo = (most: number): number => Math.floor(random() * most);
    const folder = mkdtempSync(join(tmpdir(), "bowline-fire-"));
    let rig: ClusterRig;
    let admin: RestateAdmin;
    let clients: TestClient[];
    let workers: { readonly node: NodeService; readonly port: number }[];
    let current = 0;

    before(async () => {
      rig = await startClusterRig();
      const { ingress, admin: adminUrl } = rig.restate;
      admin = createRestateAdmin({ ingress, admin: adminUrl });
      const ports = await freePorts(4);
      workers = [0, 1].map((index) => {
        const [port = 0, workerPort = 0] = ports.slice(index * 2);
        const node = new NodeService({
          name: `worker-${index}`,
          role: "worker",
          host: "127.0.0.1",
          port,
          workerPort,
          folder,
          token,
          place: loopback,
          env: { OUTSIDE: rig.outside.url },
          agentModule: new URL("../kit/scripted-agents.ts", import.meta.url).href,
          addresses: {
            postgres: rig.postgresUrl,
            ingress,
            admin: adminUrl,
            nats: [rig.nats.url],
            worker: rig.door.uri,
            gateway: "",
          },
        });
        return { node, port: workerPort };
      });
      rig.door.to(workers[0]?.port ?? 0);
      await Promise.all(workers.map(({ node }) => node.start()));
      const places = [await rig.addGateway(), await rig.addGateway()];
      clients = await Promise.all(
        places.map(({ url }) => TestClient.enter(url.replace("http", "ws"), token, "all")),
      );
    });
    after(async () => {
      for (const { socket } of clients ?? []) socket.terminate();
      await Promise.all((workers ?? []).map(({ node }) => node.kill()));
      await rig[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    });

    const anyClient = (): TestClient => clients[upTo(2)] as TestClient;
    /** Stops the worker that runs everything. The other one takes over. Returns what wakes it. */
    const stopWorker = (): (() => void) => {
      const stopped = workers[current]?.node;
      stopped?.stop();
      current = 1 - current;
      rig.door.to(workers[current]?.port ?? 0);
      return () => stopped?.continue();
    };
    const textOf = (name: string): string => `script:${name}`;
    const send = async (
      sessionKey: string,
      turns: readonly Turn[],
      by = anyClient(),
    ): Promise<Sent> => {
      const name = randomUUID();
      const message = rig.outside.script(
        name,
        turns.map(({ calls, text, ...turn }) => ({
          ...turn,
          ...(text !== undefined && { text: `${text} to ${name}` }),
          ...(calls && {
            calls: calls.map((call) => ({ ...call, args: { script: name, ...call.args } })),
          }),
        })),
      );
      const { runId } = await by.call("chat.send", { sessionKey, message });
      return { name, runId };
    };
    const long: readonly Turn[] = [
      { text: "Working", ms: 200, calls: [{ name: "work", args: { ms: 300 } }] },
      { text: "Still", ms: 600, calls: [{ name: "work", args: { ms: 300 } }] },
      { text: "Late", ms: 1500 },
    ];
    const short: readonly Turn[] = [{ text: "Answer" }];
    /** Waits until the model is asked, and then for a moment. */
    const inTheMiddle = async ({ name }: Sent): Promise<void> => {
      await rig.outside.when(name, ({ turns }) => turns.length > 0);
      await setTimeout(upTo(1200));
    };
    const entriesOf = async (sessionKey: string): Promise<AnyEntry[]> => {
      const all: AnyEntry[] = [];
      for await (const batch of rig.store.read(sessionKey)) all.push(...batch);
      return all;
    };
    /** Asserts that a message was answered, in a context of these messages and itself. */
    const assertAnswered = async (sent: Sent, earlier: readonly Sent[], by = anyClient()) => {
      await by.call("chat.subscribe", {
        sessionKey: keyOf.get(sent) ?? "",
        runId: sent.runId,
        seq: -1,
      });
      assert.equal((await by.end(sent.runId)).event, "chat.final");
      assert.deepEqual(
        rig.outside.seen(sent.name).asked.at(-1),
        [...earlier, sent].map(({ name }) => textOf(name)),
      );
    };
    const keyOf = new Map<Sent, string>();
    const sendTo = async (
      sessionKey: string,
      turns: readonly Turn[],
      by?: TestClient,
    ): Promise<Sent> => {
      const sent = await send(sessionKey, turns, by);
      keyOf.set(sent, sessionKey);
      return sent;
    };

    /** Asserts that nothing of a conversation is in the session. */
    const assertGone = async (sessionKey: string, old: readonly Sent[]) => {
      const stored = JSON.stringify(await entriesOf(sessionKey));
      for (const { name, runId } of old) {
        assert.ok(!stored.includes(name), `${name} is in the session`);
        assert.ok(!stored.includes(runId), `${runId} is in the session`);
      }
    };

    it("have nothing of a deleted conversation, when its worker wakes", async () => {
      for (const way of ["sessions.delete", "deleteSessions"] as const) {
        const sessionKey = `deleted/${way}`;
        const user = randomUUID();
        await rig.store.durable.ensure({
          id: sessionKey,
          createdAt: Date.now(),
          metadata: { user },
        });
        const old = [await sendTo(sessionKey, long), await sendTo(sessionKey, short)];
        await inTheMiddle(old[0] as Sent);
        const wake = stopWorker();
        if (way === "sessions.delete")
          assert.deepEqual(await anyClient().call(way, { sessionKey }), { deleted: true });
        else {
          const options = { beforeDelete: (id: string) => admin.forget(id) };
          const done = await rig.store.deleteSessions({ user }, options);
          assert.deepEqual(done, { deleted: [sessionKey], failed: [] });
        }
        const rows = await rig.restate.query(
          `select id from sys_invocation where target_service_key = '${sessionKey}'`,
        );
        assert.deepEqual(rows, [], way);
        const next = await sendTo(sessionKey, short);
        // A gateway that was late tells Restate of a message of the old conversation.
        const url = `${rig.restate.ingress}/bowline/${encodeURIComponent(sessionKey)}/run/send`;
        const [{ name, runId } = { name: "", runId: "" }] = old;
        const late = {
          messageId: runId,
          runId,
          message: { role: "user", content: textOf(name), timestamp: 1 },
        };
        await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(late),
        });
        await assertAnswered(next, []);
        wake();
        await setTimeout(1000);
        const last = await sendTo(sessionKey, short);
        await assertAnswered(last, [next]);
        await assertGone(sessionKey, old);
      }
    });

    it("begin anew with a reset, whoever sends meanwhile", async () => {
      for (let round = 0; round < 3; round++) {
        const sessionKey = `reset/${round}`;
        const [one, two] = (round % 2 === 0 ? clients : clients.toReversed()) as [
          TestClient,
          TestClient,
        ];
        const old = [await sendTo(sessionKey, short)];
        await assertAnswered(old[0] as Sent, []);
        old.push(await sendTo(sessionKey, long));
        await inTheMiddle(old[1] as Sent);
        const wake = round === 1 ? stopWorker() : () => {};
        const resetting = one.call("sessions.reset", { sessionKey });
        const during: Sent[] = [];
        const over = new AbortController();
        const sending = (async () => {
          while (!over.signal.aborted) {
            during.push(await retried(() => sendTo(sessionKey, short, two)));
            await setTimeout(20 + upTo(60));
          }
        })();
        await resetting;
        over.abort();
        await sending;
        const next = await sendTo(sessionKey, short);
        await Promise.all(during.map(({ runId }) => two.end(runId)));
        await anyClient().call("chat.subscribe", { sessionKey, runId: next.runId, seq: -1 });
        await anyClient().end(next.runId);
        wake();
        const session = await openSession(rig.store, sessionKey, { readOnly: true });
        const messages = (await session.contextMessages()) as { role: string; content: unknown }[];
        const users = messages
          .filter(({ role }) => role === "user")
          .map(({ content }) => JSON.stringify(content));
        const said = (sent: Sent): boolean => users.some((text) => text.includes(sent.name));
        for (const sent of old) assert.ok(!said(sent), `${sent.name} was said before`);
        // Each answer of the new conversation has its question before it.
        assert.deepEqual(
          messages.map(({ role }) => role),
          users.flatMap(() => ["user", "assistant"]),
        );
        assert.ok(said(next));
        for (const sent of [...during, next]) {
          if (!said(sent)) continue;
          const asked = rig.outside.seen(sent.name).asked.at(-1) ?? [];
          for (const { name } of old) assert.ok(!asked.includes(textOf(name)), `round ${round}`);
        }
      }
    });

    it("begin anew after a run that began in the last moment", async () => {
      const sessionKey = "reset/late";
      const store = createPostgresStore({ connectionString: rig.postgresUrl });
      const { durable } = store;
      const during: Sent[] = [];
      for (const name of ["append", "rewind"] as const) {
        const write = durable[name].bind(durable) as (...args: unknown[]) => Promise<unknown>;
        Object.assign(durable, {
          async [name](...args: unknown[]) {
            if (during.length === 0) {
              during.push(await sendTo(sessionKey, long, clients[1]));
              await rig.outside.when(during[0]?.name ?? "", ({ turns }) => turns.length > 0);
            }
            return write(...args);
          },
        });
      }
      const place = await rig.addGateway({ postgres: store });
      const client = await TestClient.enter(place.url.replace("http", "ws"), token, "all");
      await assertAnswered(await sendTo(sessionKey, short), []);
      await client.call("sessions.reset", { sessionKey });
      assert.equal((await clients[1]?.end(during[0]?.runId ?? ""))?.event, "chat.aborted");
      const { messages } = await client.call("chat.history", { sessionKey });
      assert.deepEqual(messages, []);
      await assertAnswered(await sendTo(sessionKey, short), []);
      client.socket.terminate();
      await place.stop();
      await store.close();
    });

    it("end, and are stopped, reset and deleted, when Restate has lost their run", async () => {
      const ways = ["nothing", "chat.abort", "sessions.reset", "sessions.delete"] as const;
      const stopped = ways.map(async (way) => {
        const sessionKey = `lost/${way}`;
        const client = anyClient();
        const lost = await sendTo(sessionKey, long, client);
        await rig.outside.when(lost.name, ({ turns }) => turns.length > 0);
        const [row] = await rig.restate.query(
          `select id from sys_invocation where target_service_key = '${sessionKey}'`,
        );
        const url = `${rig.restate.admin}/invocations/${String(row?.id)}/kill`;
        assert.equal((await fetch(url, { method: "PATCH" })).ok, true);
        if (way !== "nothing") await client.call(way, { sessionKey });
        if (way !== "sessions.delete")
          assert.match((await client.end(lost.runId)).event ?? "", /^chat\.(?:error|aborted)$/);
        assert.deepEqual(await rig.store.durable.openRuns({ sessionId: sessionKey }), []);
        const next = await sendTo(sessionKey, short);
        await assertAnswered(next, way === "chat.abort" || way === "nothing" ? [lost] : []);
      });
      await Promise.all(stopped);
    });

    it("are forked at their points, while the database is restarted", async () => {
      const sessionKey = "forked";
      const first = await sendTo(sessionKey, short);
      await assertAnswered(first, []);
      const second = await sendTo(sessionKey, long);
      const forks: { readonly key: string; readonly at: string | undefined }[] = [];
      await rig.outside.when(second.name, ({ turns }) => turns.length > 0);
      for (let index = 0; index < 5; index++) {
        await setTimeout(upTo(500));
        const known = await entriesOf(sessionKey);
        const at = index % 2 === 0 ? undefined : known[upTo(known.length)]?.id;
        const key = `${sessionKey}/${index}`;
        const params = { sessionKey, newSessionKey: key, ...(at !== undefined && { at }) };
        const forking = anyClient().call("sessions.fork", params);
        if (index === 2) {
          await rig.postgres.crash();
          await rig.postgres.start();
        }
        await forking;
        forks.push({ key, at });
      }
      await assertAnswered(second, [first]);
      const whole = await entriesOf(sessionKey);
      for (const { key, at } of forks) {
        const { origin } = await rig.store.load(key);
        if (at !== undefined) assert.equal(origin?.entryId, at);
        const point = whole.findIndex(({ id }) => id === origin?.entryId);
        const own = await entriesOf(key);
        const copies = own.slice(0, point + 1);
        assert.deepEqual(copies, whole.slice(0, point + 1), key);
        const ends = own.slice(point + 1).map(({ type }) => type);
        assert.ok(
          ends.every((type) => type === "run_end"),
          ends.join(),
        );
        assert.deepEqual(await rig.store.durable.openRuns({ sessionId: key }), []);
        const earlier = copies.some((entry) => JSON.stringify(entry).includes(textOf(second.name)))
          ? [first, second]
          : copies.some((entry) => JSON.stringify(entry).includes(textOf(first.name)))
            ? [first]
            : [];
        await assertAnswered(await sendTo(key, short), earlier);
      }
      assert.deepEqual((await entriesOf(sessionKey)).length, whole.length);
    });

    it("answer each message of their new conversations, while everything happens at once", async () => {
      const keys = Array.from({ length: 6 }, (_, index) => `all/${index}`);
      const olds = await Promise.all(keys.map((key) => sendTo(key, long)));
      await Promise.all(olds.map(inTheMiddle));
      const wake = stopWorker();
      const acts = keys.map(async (sessionKey, index) => {
        await setTimeout(upTo(800));
        if (index % 3 === 0)
          await retried(() => anyClient().call("sessions.delete", { sessionKey }));
        else if (index % 3 === 1)
          await retried(() => anyClient().call("sessions.reset", { sessionKey }));
        else
          await retried(() =>
            anyClient().call("sessions.fork", { sessionKey, newSessionKey: `${sessionKey}/fork` }),
          );
      });
      await setTimeout(upTo(600));
      await rig.postgres.crash();
      await rig.postgres.start();
      await Promise.all(acts);
      const news = await Promise.all(
        keys.map((key, index) => sendTo(index % 3 === 2 ? `${key}/fork` : key, short)),
      );
      wake();
      for (const [index, sent] of news.entries()) {
        const old = olds[index] as Sent;
        await anyClient().call("chat.subscribe", {
          sessionKey: keyOf.get(sent) ?? "",
          runId: sent.runId,
          seq: -1,
        });
        const asked = await eventually(
          async () => rig.outside.seen(sent.name).asked.at(-1),
          (texts) => texts !== undefined,
        );
        const mine = textOf(sent.name);
        assert.deepEqual(asked, index % 3 === 2 ? [textOf(old.name), mine] : [mine], keys[index]);
      }
      await eventually(
        () => rig.store.durable.openRuns(),
        (open) => open.length === 0,
      );
      for (const [index, key] of keys.entries())
        if (index % 3 === 0) await assertGone(key, [olds[index] as Sent]);
    });
  },
);

/** Calls again while the answer is `busy`, for 20 seconds. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  const end = performance.now() + 20_000;
  for (;;)
    try {
      return await work();
    } catch (error) {
      const { code } = (error as { frame?: { data?: { code?: string } } }).frame?.data ?? {};
      if (code !== "busy" || performance.now() > end) throw error;
      await setTimeout(200);
    }
}
