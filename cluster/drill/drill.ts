/**
 * The drill: people work in many sessions of a whole cluster while its processes are killed and stopped. At the
 * end all is mended, and everything that was seen from outside is checked.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createPostgresStore, type PostgresStore } from "@bowline/postgres";
import { openSession, type AnyEntry } from "@bowline/core/session";
import { startSystem, type System } from "../kit/system.ts";
import { breakThings } from "./chaos/chaos.ts";
import { Network, networkIsMissing } from "./chaos/network.ts";
import { Outages } from "./chaos/outages.ts";
import { findFaults } from "./checks/all-checks.ts";
import { answerApprovals } from "./clients/approver.ts";
import type { DrillClient } from "./clients/drill-client.ts";
import { Journal } from "./clients/journal.ts";
import { LibraryClient, type ClientOptions } from "./clients/library-client.ts";
import { RawClient } from "./clients/raw-client.ts";
import { SessionActor } from "./clients/session-actor.ts";
import type { Evidence, Finding, Leftovers, SessionEvidence } from "./evidence.ts";
import { installAudit, readAudit } from "./observe/audit.ts";
import { watchBus } from "./observe/bus-watch.ts";
import { whenNothingIsLeft } from "./observe/leftovers.ts";
import { startOutside, type Outside } from "./outside/outside.ts";
import { seeded, type Random } from "./seeded.ts";

export interface DrillOptions {
  readonly seed: number;
  /** How long things break, in milliseconds. */
  readonly breakMs: number;
  readonly sessions: number;
  /** For data and logs. */
  readonly folder: string;
  /** The mean number of tasks that begin per second, over all sessions. */
  readonly tasksPerSecond: number;
  /** How long all may take to end after everything was mended, in milliseconds. */
  readonly restMs: number;
  /** Whether each process gets a host of its own, so that links can be cut. */
  readonly hasHosts: boolean;
  /** Scales the pauses between breaks. */
  readonly pace: number;
  readonly say: (line: string) => void;
}

export interface DrillReport {
  readonly findings: readonly Finding[];
  readonly evidence: Evidence;
  readonly counts: Readonly<Record<string, number>>;
}

const PROGRESS_MS = 5000;
/** The number of sessions that begin with a long answer. Its attempt is the first that is lost. */
const TALKERS = 4;

export async function drill(options: DrillOptions): Promise<DrillReport> {
  const random = seeded(options.seed);
  await using parts = new AsyncDisposableStack();
  const outsideRandom = random.fork();
  const network = await openNetwork(options, parts);
  const outside = parts.use(
    await startOutside({
      random: () => outsideRandom.next(),
      ...(network && { host: network.address }),
    }),
  );
  const system = parts.use(
    await startSystem({
      agentModule: join(import.meta.dirname, "agents.ts"),
      folder: options.folder,
      env: { DRILL_OUTSIDE: outside.url },
      onStart: options.say,
      ...(network && { placeOf: (name) => network.host(name) }),
    }),
  );
  await installAudit(system.postgres.server);
  const store = createPostgresStore({ connectionString: system.addresses.postgres });
  parts.defer(() => store.close());
  const run = new Run(options, { random, outside, system, store, network });
  return await run.run(); // before the parts are disposed
}

const hosts =
  "restate-1 restate-2 restate-3 nats-1 nats-2 postgres balancer worker-1 worker-2 worker-3 gateway-1 gateway-2".split(
    " ",
  );

/** Hosts with addresses of their own, where the machine has them. */
async function openNetwork(
  { say, hasHosts }: DrillOptions,
  parts: AsyncDisposableStack,
): Promise<Network | undefined> {
  const missing = hasHosts ? networkIsMissing() : "they were not asked for";
  if (missing !== false) {
    say(`no links are cut, since all processes are on one host: ${missing}`);
    return undefined;
  }
  const network = parts.use(new Network());
  await network.open(hosts);
  say(`${hosts.length} hosts with addresses of their own, from ${network.address}`);
  return network;
}

interface Parts {
  readonly random: Random;
  readonly outside: Outside;
  readonly system: System;
  readonly store: PostgresStore;
  readonly network: Network | undefined;
}

class Run {
  readonly #options: DrillOptions;
  readonly #parts: Parts;
  readonly #journal = new Journal();
  readonly #outages: Outages;
  readonly #sessions: readonly string[];
  readonly #began = performance.now();

  constructor(options: DrillOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.#outages = new Outages(({ name, how }) => this.#say(`${name} is ${how}`));
    this.#sessions = Array.from({ length: options.sessions }, (_, index) => `s${index}`);
  }

  async run(): Promise<DrillReport> {
    const { random, system, outside, network } = this.#parts;
    const { breakMs, pace } = this.#options;
    const bus = await watchBus(system.addresses.nats, this.#sessions);
    const actors = this.#actors(random.fork());
    const approvers = [0, 1].map((index) =>
      this.#client(random.fork(), `approver-${index}`, index === 0),
    );
    const [work, answering] = [new AbortController(), new AbortController()];
    const answered = approvers.map((client) =>
      answerApprovals(client, this.#journal, answering.signal),
    );
    const working = actors.map((actor) => actor.actor.work(work.signal));
    const progress = setInterval(() => this.#progress(), PROGRESS_MS);
    const chaos = AbortSignal.timeout(breakMs);
    try {
      await breakThings({
        system,
        outside,
        outages: this.#outages,
        network,
        random: random.fork(),
        pace,
        signal: chaos,
      });
      this.#say("everything is mended; waiting for the rest");
      work.abort();
      const left = await this.#rest(
        working,
        actors.map(({ actor }) => actor),
        approvers[0] as DrillClient,
      );
      answering.abort();
      await Promise.all(answered);
      return await this.#report(left, bus.events);
    } finally {
      clearInterval(progress);
      work.abort();
      answering.abort();
      for (const { clients } of actors) for (const client of clients) client.close();
      for (const client of approvers) client.close();
      await bus.close();
    }
  }

  #actors(
    random: Random,
  ): { readonly actor: SessionActor; readonly clients: readonly DrillClient[] }[] {
    const { tasksPerSecond, sessions } = this.#options;
    return this.#sessions.map((session, index) => {
      const sender = this.#client(random.fork(), `${session}-sender`, index % 2 === 0);
      const watcher =
        index % 3 === 0
          ? this.#client(random.fork(), `${session}-watcher`, index % 2 === 1)
          : undefined;
      const actor = new SessionActor({
        session,
        sender,
        watcher,
        journal: this.#journal,
        random: random.fork(),
        pauseMs: (sessions / tasksPerSecond) * 1000,
        talksAtFirst: index < TALKERS,
      });
      return { actor, clients: [sender, ...(watcher ? [watcher] : [])] };
    });
  }

  #client(random: Random, name: string, isLibrary: boolean): DrillClient {
    const { system } = this.#parts;
    const options: ClientOptions = {
      name,
      urls: system.urls.map((url) => url.replace(/^http/, "ws")),
      token: system.token,
      journal: this.#journal,
      random,
    };
    return isLibrary ? new LibraryClient(options) : new RawClient(options);
  }

  /** Waits until all have what they wait for. */
  async #rest(
    working: readonly Promise<void>[],
    actors: readonly SessionActor[],
    client: DrillClient,
  ): Promise<Leftovers> {
    const { restMs } = this.#options;
    const { store, system } = this.#parts;
    const own = this.#journal.streams.filter(({ isOwn }) => isOwn).map(({ ended }) => ended);
    const limit = sleep(restMs, "late", { ref: false });
    const end = performance.now() + restMs;
    const ended = Promise.all([...working, ...own]).then(() => this.#useHeld(actors));
    await Promise.race([ended, limit]);
    for (const { session, waitsFor } of actors)
      if (waitsFor !== "")
        this.#journal.complain("the sender", session, `still waits for ${waitsFor}`);
    const readers = { store, restate: system.restate, client, sessions: this.#sessions };
    const left = await whenNothingIsLeft(readers, Math.max(2000, end - performance.now()));
    return { ...left, failures: [...left.failures, ...this.#outages.failures] };
  }

  /** Messages that an aborted run had not read wait for the next message of their session. */
  async #useHeld(actors: readonly SessionActor[]): Promise<void> {
    const { store } = this.#parts;
    await Promise.all(
      actors.map(async (actor) => {
        try {
          if ((await store.durable.waiting(actor.session)).length > 0) await actor.finish();
        } catch (error) {
          // No message came to the session.
          if ((error as { readonly code?: string }).code === "not_found") return;
          this.#journal.complain("the sender", actor.session, String(error));
        }
      }),
    );
  }

  async #report(left: Leftovers, bus: Evidence["bus"]): Promise<DrillReport> {
    const { outside, system } = this.#parts;
    const { messages, aborts, answers, streams, complaints, counts } = this.#journal;
    const evidence: Evidence = {
      sessions: await this.#readSessions(),
      ledger: outside.ledger,
      messages,
      aborts,
      answers,
      streams,
      complaints,
      audit: await readAudit(system.postgres.server),
      bus,
      outages: this.#outages.all,
      left: { ...left, failures: [...left.failures, ...outside.failures] },
    };
    return { findings: findFaults(evidence), evidence, counts: { ...counts, ...this.#counts() } };
  }

  async #readSessions(): Promise<SessionEvidence[]> {
    const { store } = this.#parts;
    const evidence: SessionEvidence[] = [];
    for (const key of this.#sessions) {
      const entries: AnyEntry[] = [];
      try {
        const session = await openSession(store, key, { readOnly: true });
        for await (const entry of session.entries()) entries.push(entry);
      } catch (error) {
        if ((error as { readonly code?: string }).code !== "not_found") throw error;
      }
      evidence.push({ key, entries });
    }
    return evidence;
  }

  #counts(): Readonly<Record<string, number>> {
    const { messages, streams, aborts } = this.#journal;
    const { models, tools } = this.#parts.outside.ledger;
    return {
      messages: messages.length,
      accepted: messages.filter(({ answers }) => answers.length > 0).length,
      ended: streams.filter(({ end, isOwn }) => isOwn && end !== undefined).length,
      open: streams.filter(({ end, isOwn }) => isOwn && end === undefined).length,
      aborts: aborts.length,
      modelCalls: models.length,
      cutCalls: models.filter(({ state }) => state === "cut").length,
      tools: tools.length,
      outages: this.#outages.all.length,
    };
  }

  #progress(): void {
    const {
      accepted = 0,
      ended = 0,
      open = 0,
      modelCalls = 0,
      tools = 0,
      outages = 0,
    } = this.#counts();
    this.#say(
      `${accepted} messages accepted, ${ended} runs ended, ${open} open; ${modelCalls} model calls, ${tools} tool uses; ${outages} outages`,
    );
  }

  #say(line: string): void {
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(1);
    this.#options.say(`${seconds.padStart(6)} s  ${line}`);
  }
}
