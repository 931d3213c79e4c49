/**
 * The drill's clients, model and tools with the gateway of one process, which works: the checks find nothing, so
 * what they find in a cluster is the cluster's.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createMemoryStore, openSession, type AnyEntry } from "@bowline/core/session";
import { startGateway } from "bowline/gateway";
import { findFaults } from "../checks/all-checks.ts";
import { answerApprovals } from "../clients/approver.ts";
import type { DrillClient } from "../clients/drill-client.ts";
import { Journal } from "../clients/journal.ts";
import { LibraryClient } from "../clients/library-client.ts";
import { RawClient } from "../clients/raw-client.ts";
import { SessionActor } from "../clients/session-actor.ts";
import type { SessionEvidence } from "../evidence.ts";
import { startOutside } from "../outside/outside.ts";
import { seeded } from "../seeded.ts";

const SESSIONS = 12;
const WORK_MS = 5000;
const token = "the-token-of-this-test";

describe("the drill's clients", () => {
  it("get all of their runs from a gateway of one process", { timeout: 60_000 }, async () => {
    const random = seeded(1);
    await using outside = await startOutside({
      random: () => random.next(),
      wordMs: 8,
      toolMs: 300,
    });
    process.env.DRILL_OUTSIDE = outside.url;
    const { agents } = await import("../agents.ts");
    const store = createMemoryStore();
    const gateway = await startGateway({ token, port: 0, store, agents });
    const journal = new Journal();
    const work = AbortSignal.timeout(WORK_MS);
    const answering = new AbortController();
    const urls = [`ws://127.0.0.1:${gateway.port}`];
    const create = (name: string, isLibrary: boolean): DrillClient => {
      const options = { name, urls, token, journal, random: random.fork() };
      return isLibrary ? new LibraryClient(options) : new RawClient(options);
    };
    const approver = create("approver", true);
    const clients = [approver];
    const answered = answerApprovals(approver, journal, answering.signal);
    const keys = Array.from({ length: SESSIONS }, (_, index) => `s${index}`);
    const actors = keys.map((session, index) => {
      const sender = create(`${session}-sender`, index % 2 === 0);
      const watcher = create(`${session}-watcher`, index % 2 === 1);
      clients.push(sender, watcher);
      return new SessionActor({
        session,
        sender,
        watcher,
        journal,
        random: random.fork(),
        pauseMs: 500,
        talksAtFirst: false,
      });
    });
    await Promise.all(actors.map((actor) => actor.work(work)));
    const limit = sleep(20_000, "late", { ref: false });
    await Promise.race([Promise.all(journal.streams.map(({ ended }) => ended)), limit]);
    answering.abort();
    await answered;
    for (const client of clients) client.close();
    await gateway.close();
    const sessions: SessionEvidence[] = [];
    for (const key of keys) {
      const entries: AnyEntry[] = [];
      const session = await openSession(store, key, { readOnly: true });
      for await (const entry of session.entries()) entries.push(entry);
      sessions.push({ key, entries });
    }
    const { messages, aborts, answers, streams, complaints } = journal;
    assert.ok(messages.length > SESSIONS, `${messages.length} messages`);
    assert.ok(outside.ledger.tools.length > SESSIONS, `${outside.ledger.tools.length} tools`);
    const findings = findFaults({
      sessions,
      ledger: outside.ledger,
      messages,
      aborts,
      answers,
      streams,
      complaints,
      audit: [],
      bus: [],
      outages: [],
      left: {
        openRuns: [],
        waiting: [],
        approvals: [],
        invocations: [],
        failures: outside.failures,
      },
    });
    assert.deepEqual(findings, []);
  });
});
