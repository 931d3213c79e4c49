/**
 * What clients do, over two addresses: those of two gateways of a cluster, or twice that of one process.
 * Both must answer the same.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { MovingClient } from "../../packages/cluster/test/support/gateways.ts";
import type { TestClient } from "../../packages/bowline/test/gateway/gateway.ts";
import type { Outside, Turn } from "../kit/outside.ts";

export interface Scene {
  /** A client of each address. */
  readonly one: TestClient;
  readonly two: TestClient;
  readonly urls: readonly [string, string];
  readonly token: string;
  readonly outside: Outside;
  /** Sets the answers of the model to the message that this returns. */
  readonly say: (name: string, turns: readonly Turn[]) => string;
}

interface Answer {
  readonly decision: "allow-once" | "allow-session" | "allow-always" | "deny";
  readonly pattern?: string;
}

export interface Scenario {
  readonly title: string;
  readonly play: (scene: Scene) => Promise<void>;
}

const newKey = (): string => `s/${randomUUID()}`;

/** Waits until the answer is as it should be. */
export async function eventually<T>(
  ask: () => Promise<T>,
  isTrue: (answer: T) => boolean,
): Promise<T> {
  const end = performance.now() + 20_000;
  for (;;) {
    const answer = await ask();
    if (isTrue(answer)) return answer;
    assert.ok(performance.now() < end, `never so: ${JSON.stringify(answer)}`);
    await setTimeout(20);
  }
}

async function textOf(client: TestClient, sessionKey: string): Promise<unknown> {
  const { messages } = await client.call("chat.history", { sessionKey });
  return messages.map(({ message }) => message.role).join(" ");
}

export const scenarios: readonly Scenario[] = [
  {
    title: "streams an answer to the clients of both, and stores it",
    async play({ one, two, say }) {
      const sessionKey = `${newKey()} any ?#%25&'"*.>\n\u{1f600} 日本`;
      await two.call("chat.subscribe", { sessionKey });
      const message = say("hello", [{ text: "Hello.", ms: 100 }]);
      const sent = await one.call("chat.send", { sessionKey, message });
      assert.equal(sent.status, "started");
      const ends = await Promise.all([one, two].map((client) => client.end(sent.runId)));
      assert.deepEqual(
        ends.map(({ event }) => event),
        ["chat.final", "chat.final"],
      );
      for (const client of [one, two]) {
        assert.equal(client.text(sent.runId), "Hello.");
        assert.equal(await textOf(client, sessionKey), "user assistant");
      }
    },
  },
  {
    title: "answers a message that is sent twice at once under one key once",
    async play({ one, two, say, outside }) {
      const sessionKey = newKey();
      const idempotencyKey = randomUUID();
      const message = say(idempotencyKey, [{ text: "Once." }]);
      const params = { sessionKey, message, idempotencyKey };
      for (const client of [one, two]) await client.call("chat.subscribe", { sessionKey });
      const both = await Promise.all([
        one.call("chat.send", params),
        two.call("chat.send", params),
      ]);
      assert.deepEqual(
        both.map(({ runId }) => runId),
        [idempotencyKey, idempotencyKey],
      );
      await one.end(idempotencyKey);
      assert.deepEqual(outside.seen(idempotencyKey).turns, [0]);
      await two.end(idempotencyKey);
      for (const client of [one, two]) {
        const [first] = client.ofRun(idempotencyKey);
        assert.deepEqual([first?.event, first?.data?.seq], ["chat.user", 0]);
      }
      const again = await eventually(
        () => two.call("chat.send", params),
        ({ status }) => status !== "in_flight",
      );
      assert.equal(again.status, "finished");
      const other = { ...params, message: "something else" };
      assert.equal(await one.refused("chat.send", other), "conflict");
    },
  },
  {
    title: "queues messages, shows them as waiting to both, and runs them in order",
    async play({ one, two, say, outside }) {
      const sessionKey = newKey();
      const first = await one.call("chat.send", {
        sessionKey,
        message: say(`a ${sessionKey}`, [{ text: "First.", ms: 1500 }]),
      });
      await outside.when(`a ${sessionKey}`, ({ turns }) => turns.length > 0);
      await two.call("chat.subscribe", { sessionKey });
      const second = await two.call("chat.send", {
        sessionKey,
        message: say(`b ${sessionKey}`, [{ text: "Second." }]),
      });
      assert.equal(second.status, "queued");
      for (const client of [one, two]) {
        const queued = await client.event("chat.queued", second.runId);
        assert.deepEqual([queued.messageId, queued.kind], [second.runId, "send"]);
        const { waiting } = await client.call("chat.history", { sessionKey });
        assert.deepEqual(
          waiting.map(({ messageId }) => messageId),
          [second.runId],
        );
      }
      const { sessions } = await two.call("sessions.list", {});
      const listed = sessions.find((own) => own.sessionKey === sessionKey);
      const { session } = await one.call("sessions.get", { sessionKey });
      assert.deepEqual(
        listed?.runs.map(({ runId, state }) => [runId, state]),
        session.runs.map(({ runId, state }) => [runId, state]),
      );
      assert.deepEqual(
        session.runs.map(({ runId, state }) => [runId, state]),
        [
          [first.runId, "running"],
          [second.runId, "queued"],
        ],
      );
      for (const client of [one, two]) {
        assert.equal((await client.end(second.runId)).event, "chat.final");
        assert.equal(client.text(second.runId), "Second.");
        const seqs = client.ofRun(second.runId).map(({ data }) => data?.seq);
        const names = client.ofRun(second.runId).map(({ event }) => event);
        assert.deepEqual(names.slice(0, 2), ["chat.queued", "chat.user"]);
        assert.deepEqual(
          seqs,
          seqs.map((_, index) => index),
        );
      }
      const { waiting } = await two.call("chat.history", { sessionKey });
      assert.deepEqual(waiting, []);
    },
  },
  {
    title: "steers a run from the other address, and adds a follow-up",
    async play({ one, two, say, outside }) {
      const sessionKey = newKey();
      const name = `steered ${sessionKey}`;
      const { runId } = await one.call("chat.send", {
        sessionKey,
        message: say(name, [
          { calls: [{ name: "work", args: { ms: 1000 } }] },
          { text: "Steered.", ms: 500 },
          { text: "Followed up." },
        ]),
      });
      await outside.when(name, ({ tools }) => tools.length > 0);
      const steered = await two.call("chat.steer", {
        sessionKey,
        message: "left",
        idempotencyKey: "k1",
      });
      assert.deepEqual([steered.runId, steered.status], [runId, "steered"]);
      const followed = await two.call("chat.followUp", { sessionKey, message: "and then" });
      assert.deepEqual([followed.runId, followed.status], [runId, "steered"]);
      const queued = await one.until(
        ({ event, data }) => event === "chat.queued" && data?.text === "left",
      );
      assert.equal(queued.data?.runId, runId);
      const { waiting } = await one.call("chat.history", { sessionKey });
      assert.deepEqual(
        waiting.map(({ kind }) => kind),
        ["steer", "followUp"],
      );
      // The run has the follow-up from its second turn on, and shows it to the model at its end.
      await outside.when(name, ({ turns }) => turns.length > 1);
      const later = await two.call("chat.history", { sessionKey });
      assert.deepEqual(
        later.waiting.map(({ kind }) => kind),
        ["followUp"],
      );
      assert.equal((await one.end(runId)).event, "chat.final");
      assert.deepEqual(outside.seen(name).asked.at(-1)?.slice(1), ["left", "and then"]);
      const again = await one.call("chat.steer", {
        sessionKey,
        message: "left",
        idempotencyKey: "k1",
      });
      assert.deepEqual([again.runId, again.status], [runId, "finished"]);
    },
  },
  {
    title: "aborts a running and a queued run from the other address",
    async play({ one, two, say, outside }) {
      const sessionKey = newKey();
      const [a, b] = [`long ${sessionKey}`, `queued ${sessionKey}`];
      const first = await one.call("chat.send", {
        sessionKey,
        message: say(a, [{ text: "Never whole.", ms: 20_000 }]),
      });
      await outside.when(a, ({ turns }) => turns.length > 0);
      const second = await one.call("chat.send", {
        sessionKey,
        message: say(b, [{ text: "No." }]),
      });
      assert.deepEqual(await two.call("chat.abort", { sessionKey, runId: second.runId }), {
        aborted: true,
        runIds: [second.runId],
      });
      assert.equal((await one.end(second.runId)).event, "chat.aborted");
      assert.deepEqual((await two.call("chat.abort", { sessionKey })).runIds, [first.runId]);
      assert.equal((await one.end(first.runId)).event, "chat.aborted");
      assert.deepEqual(outside.seen(b).turns, []);
      assert.deepEqual(await two.call("chat.abort", { sessionKey }), {
        aborted: false,
        runIds: [],
      });
      const sent = await two.call("chat.send", {
        sessionKey,
        message: say("go on", [{ text: "Yes." }]),
      });
      assert.equal((await two.end(sent.runId)).event, "chat.final");
    },
  },
  {
    title: "holds a steered message of a stopped run for the next message",
    async play({ one, two, say, outside }) {
      const sessionKey = newKey();
      const [first, next] = [`stopped ${sessionKey}`, `next ${sessionKey}`];
      const { runId } = await one.call("chat.send", {
        sessionKey,
        message: say(first, [{ text: "Never whole.", ms: 20_000 }]),
      });
      await outside.when(first, ({ turns }) => turns.length > 0);
      await two.call("chat.steer", { sessionKey, message: "left over" });
      await two.call("chat.abort", { sessionKey });
      assert.equal((await one.end(runId)).event, "chat.aborted");
      const { waiting } = await eventually(
        () => one.call("chat.history", { sessionKey }),
        (history) => history.waiting[0]?.kind === "held",
      );
      assert.deepEqual(
        waiting.map(({ text }) => text),
        ["left over"],
      );
      await setTimeout(300);
      assert.deepEqual((await one.call("sessions.get", { sessionKey })).session.runs, []);
      const sent = await two.call("chat.send", {
        sessionKey,
        message: say(next, [{ text: "Both." }]),
      });
      assert.equal((await two.end(sent.runId)).event, "chat.final");
      // It goes in before the next message, as the history shows.
      assert.deepEqual(outside.seen(next).asked, [
        [`script:${first}`, "left over", `script:${next}`],
      ]);
      assert.deepEqual((await one.call("chat.history", { sessionKey })).waiting, []);
    },
  },
  {
    title: "lists an approval at both, and takes its first answer",
    async play({ one, two, say, outside }) {
      const sessionKey = newKey();
      const name = `asks ${sessionKey}`;
      const { runId } = await one.call("chat.send", {
        sessionKey,
        message: say(name, [{ calls: [{ name: "asks" }] }, { text: "Done." }]),
      });
      const { approvalId } = await two.event("exec.approval_request", runId);
      for (const client of [one, two]) {
        const { approvals } = await eventually(
          () => client.call("approvals.list", { sessionKey }),
          (answer) => answer.approvals.length > 0,
        );
        assert.deepEqual(
          approvals.map((approval) => approval.approvalId),
          [approvalId],
        );
      }
      await two.call("approvals.resolve", { approvalId, decision: "allow-once", reason: "fine" });
      assert.equal(
        await one.refused("approvals.resolve", { approvalId, decision: "deny" }),
        "conflict",
      );
      const resolved = await one.event("exec.approval_resolved", runId);
      assert.deepEqual([resolved.decision, resolved.reason], ["allow", "fine"]);
      assert.equal((await one.end(runId)).event, "chat.final");
      assert.equal(outside.seen(name).tools.length, 1);
      assert.deepEqual((await two.call("approvals.list", { sessionKey })).approvals, []);
      assert.equal(await two.refused("exec.deny", { approvalId: "nobody asked" }), "not_found");
    },
  },
  {
    title: "remembers at both what a person allows in the session, and then in all sessions",
    async play({ one, two, say, outside }) {
      const [first, second] = [newKey(), newKey()];
      const program = `p${randomUUID().slice(0, 8)}`;
      const isQuestion = ({ event }: { readonly event?: string }): boolean =>
        event === "exec.approval_request";
      /** Calls bash with these arguments, and answers each question. Returns how many calls ran. */
      const ran = async (
        sessionKey: string,
        calls: readonly string[],
        ...answers: readonly Answer[]
      ): Promise<number> => {
        const name = randomUUID();
        const turns = calls.map((args) => ({
          calls: [{ name: "bash", args: { command: `${program} ${args}` } }],
        }));
        const message = say(name, [...turns, { text: "Done." }]);
        const { runId } = await one.call("chat.send", { sessionKey, message });
        const questions = () => two.ofRun(runId).filter(isQuestion);
        for (const [index, answer] of answers.entries()) {
          await two.until(() => questions().length > index);
          const approvalId = String(questions()[index]?.data?.approvalId);
          await two.call("approvals.resolve", { approvalId, ...answer });
        }
        assert.equal((await one.end(runId)).event, "chat.final");
        assert.equal(one.ofRun(runId).filter(isQuestion).length, answers.length);
        return outside.seen(name).tools.length;
      };
      const [inSession, deny] = [{ decision: "allow-session" }, { decision: "deny" }] as const;
      assert.equal(await ran(first, ["status", "status", "log"], inSession, deny), 2);
      assert.equal(await ran(first, ["status"]), 1);
      assert.equal(await ran(second, ["status"], { decision: "allow-once" }), 1);
      const always = { decision: "allow-always", pattern: `${program} *` } as const;
      assert.equal(await ran(second, ["log", "status"], always), 2);
      assert.equal(await ran(first, ["log here"]), 1);
      // An answer whose pattern is for other calls counts for nothing.
      const name = randomUUID();
      const call = { name: "bash", args: { command: "git push" } };
      const message = say(name, [{ calls: [call] }, { text: "Done." }]);
      const { runId } = await one.call("chat.send", { sessionKey: first, message });
      const { approvalId, pattern } = await two.event("exec.approval_request", runId);
      assert.equal(pattern, "git push");
      for (const other of [{ decision: "allow-always", pattern: "git log *" }, { decision: "?" }])
        assert.equal(
          await two.refused("approvals.resolve", { approvalId, ...other }),
          "bad_params",
        );
      await two.call("exec.deny", { approvalId });
      await one.end(runId);
    },
  },
  {
    title: "creates, lists, changes, forks, resets and deletes sessions, and tells both",
    async play({ one, two, say }) {
      const sessionKey = newKey();
      const changed = (client: TestClient, key: string, change: string) =>
        client.until(
          ({ event, data }) =>
            event === "sessions.changed" && data?.sessionKey === key && data.change === change,
        );
      const title = `Title ${sessionKey}`;
      const { session } = await one.call("sessions.create", { sessionKey, title });
      assert.equal(session.title, title);
      await changed(two, sessionKey, "created");
      assert.equal(await two.refused("sessions.create", { sessionKey }), "conflict");
      const { runId } = await two.call("chat.send", {
        sessionKey,
        message: say(`x ${title}`, [{ text: "Hi." }]),
      });
      await two.end(runId);
      await two.call("sessions.patch", { sessionKey, title: `${title}!` });
      await changed(one, sessionKey, "updated");
      const { sessions } = await one.call("sessions.list", { search: sessionKey });
      assert.deepEqual(
        sessions.map((own) => [own.title, own.messageCount]),
        [[`${title}!`, 2]],
      );
      assert.equal(await one.refused("sessions.patch", { sessionKey, model: "a/b" }), "bad_params");
      assert.equal(
        await one.refused("sessions.patch", { sessionKey, agentId: "nobody" }),
        "not_found",
      );
      const fork = `${sessionKey}-fork`;
      const forked = await two.call("sessions.fork", { sessionKey, newSessionKey: fork });
      assert.deepEqual([forked.session.forkedFrom, forked.session.messageCount], [sessionKey, 2]);
      assert.equal(
        await two.refused("sessions.fork", { sessionKey, newSessionKey: fork }),
        "invalid_state",
      );
      const running = await one.call("chat.send", {
        sessionKey,
        message: say(`y ${title}`, [{ text: "Never.", ms: 20_000 }]),
      });
      const waiting = await one.call("chat.send", { sessionKey, message: "waits" });
      await two.call("sessions.reset", { sessionKey });
      await changed(one, sessionKey, "reset");
      for (const id of [running.runId, waiting.runId])
        assert.equal((await one.end(id)).event, "chat.aborted");
      assert.equal(await textOf(one, sessionKey), "");
      assert.equal((await one.call("sessions.get", { sessionKey })).session.title, `${title}!`);
      assert.deepEqual(await one.call("sessions.delete", { sessionKey }), { deleted: true });
      await changed(two, sessionKey, "deleted");
      assert.deepEqual(await two.call("sessions.delete", { sessionKey }), { deleted: false });
      assert.equal(await two.refused("sessions.get", { sessionKey }), "not_found");
      assert.equal(await textOf(two, fork), "user assistant");
    },
  },
  {
    title: "resumes a run at the other address, also over HTTP",
    async play({ one, two, say, urls, token, outside }) {
      const sessionKey = newKey();
      const name = `resumed ${sessionKey}`;
      const answer = await fetch(`${urls[0]}/api/chat`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({
          sessionKey,
          message: say(name, [
            { calls: [{ name: "work", args: { ms: 500 } }], text: "One. " },
            { text: "Two." },
          ]),
        }),
      });
      assert.equal(answer.status, 202);
      const { runId, events } = (await answer.json()) as { runId: string; events: string };
      await outside.when(name, ({ tools }) => tools.length > 0);
      const followed = await two.call("chat.subscribe", { sessionKey, runId });
      assert.deepEqual(
        followed.runs.map(({ state }) => state),
        ["running"],
      );
      const stream = await fetch(`${urls[1]}${events}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const text = await stream.text();
      assert.match(text, /event: chat\.snapshot/);
      assert.match(text, /Two\.[^]*event: chat\.final/);
      assert.equal((await two.end(runId)).event, "chat.final");
      const later = await one.call("chat.subscribe", { sessionKey, runId });
      assert.deepEqual(
        later.runs.map(({ state }) => state),
        ["final"],
      );
      assert.equal((await one.end(runId)).event, "chat.final");
      const unknown = await one.call("chat.subscribe", { sessionKey, runId: "nothing" });
      assert.equal(unknown.runs.at(-1)?.state, "unknown");
    },
  },
  {
    title: "streams a run that waits over HTTP at the other address, and one that was cancelled",
    async play({ one, say, urls, token, outside }) {
      const sessionKey = newKey();
      const [first, second] = [`first ${sessionKey}`, `second ${sessionKey}`];
      await one.call("chat.send", { sessionKey, message: say(first, [{ text: "A.", ms: 1500 }]) });
      await outside.when(first, ({ turns }) => turns.length > 0);
      const waits = await one.call("chat.send", {
        sessionKey,
        message: say(second, [{ text: "Streamed." }]),
      });
      const cancelled = await one.call("chat.send", { sessionKey, message: "never" });
      const read = async (runId: string): Promise<string> => {
        const query = `sessionKey=${encodeURIComponent(sessionKey)}&seq=-1`;
        const url = `${urls[1]}/api/runs/${runId}/events?${query}`;
        const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
        assert.equal(response.status, 200);
        return response.text();
      };
      const [streamed, stopped] = [read(waits.runId), read(cancelled.runId)];
      await setTimeout(300);
      await one.call("chat.abort", { sessionKey, runId: cancelled.runId });
      assert.match(await stopped, /event: chat\.queued[^]*event: chat\.aborted/);
      assert.match(await read(cancelled.runId), /event: chat\.aborted/);
      assert.match(
        await streamed,
        /id: 0\nevent: chat\.queued[^]*id: 1\nevent: chat\.user[^]*Streamed\.[^]*event: chat\.final/,
      );
    },
  },
  {
    title: "serves a client of bowline/client whose connection moves in the middle of an answer",
    async play({ say, urls, token }) {
      const gateways = urls.map((url) => ({ gateway: { port: Number(new URL(url).port) } }));
      const moving = new MovingClient(gateways, token);
      const { client } = moving;
      const sessionKey = newKey();
      const turns = Array.from({ length: 4 }, (_, turn) => ({
        calls: [{ name: "work", args: { ms: 20 } }],
        text: `${turn} `,
        ms: 150,
      }));
      const message = say(`moves ${sessionKey}`, [...turns, { text: "End." }]);
      const run = await client.send({ sessionKey, message });
      const seqs: number[] = [];
      const reading = (async () => {
        for await (const { event, data } of run)
          if (event === "chat.snapshot") seqs.splice(0, seqs.length, data.seq);
          else seqs.push("firstSeq" in data ? (data.firstSeq ?? data.seq) : data.seq);
      })();
      for (let move = 0; move < 4; move++) {
        await setTimeout(120);
        moving.move();
      }
      await reading;
      assert.equal((await run.result()).text, "End.");
      assert.deepEqual(
        seqs.toSorted((a, b) => a - b),
        seqs,
      );
      assert.equal(new Set(seqs).size, seqs.length);
      client.close();
    },
  },
  {
    title: "reports health, agents, whole messages and what it cannot do",
    async play({ one, two, say, urls }) {
      const sessionKey = newKey();
      const { runId } = await one.call("chat.send", {
        sessionKey,
        message: say(`m ${sessionKey}`, [{ text: "Hi." }]),
      });
      await one.end(runId);
      assert.equal((await two.call("health.check", {})).status, "ok");
      const { agents } = await two.call("agents.list", {});
      assert.deepEqual(
        agents.map(({ id, isDefault }) => [id, isDefault]),
        [["assistant", true]],
      );
      const { messages } = await two.call("chat.history", { sessionKey });
      const id = messages[0]?.id ?? "";
      const whole = await two.call("chat.message", { sessionKey, id });
      assert.equal(whole.length, whole.json.length);
      assert.equal(
        await one.refused("chat.send", { sessionKey, message: "x", agentId: "nobody" }),
        "not_found",
      );
      assert.equal(await one.refused("sessions.get", { sessionKey: "nothing" }), "not_found");
      assert.deepEqual(await one.call("chat.abort", { runId: "nothing" }), {
        aborted: false,
        runIds: [],
      });
      const ready = await fetch(`${urls[1]}/ready`);
      assert.deepEqual(
        [ready.status, ((await ready.json()) as { isReady: boolean }).isReady],
        [200, true],
      );
    },
  },
];
