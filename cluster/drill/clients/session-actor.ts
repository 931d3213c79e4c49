/**
 * The people of one session: one sends tasks and waits for their ends; the other only watches. Meanwhile
 * they move, resend, steer and abort.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Result } from "bowline/client";
import type { SentMessage } from "../evidence.ts";
import type { Random } from "../seeded.ts";
import { asideText, drawTalk, drawTask, textOf, type Task } from "../task.ts";
import { Refusal, type DrillClient, type SendMethod } from "./drill-client.ts";
import type { Journal } from "./journal.ts";

export interface ActorOptions {
  readonly session: string;
  readonly sender: DrillClient;
  /** Watches the session without sending. */
  readonly watcher: DrillClient | undefined;
  readonly journal: Journal;
  readonly random: Random;
  /** The mean time between two tasks, in milliseconds. */
  readonly pauseMs: number;
  /** Whether the first task begins at once and is about a long answer. */
  readonly talksAtFirst: boolean;
}

/** A run that takes long, since much is broken, must not get more and more to do. */
const MAX_ASIDES = 3;

/** How many of the last messages may be sent again. */
const RESENT = 4;

const kinds = { "chat.send": "send", "chat.steer": "steer", "chat.followUp": "followUp" } as const;
const methods = { send: "chat.send", steer: "chat.steer", followUp: "chat.followUp" } as const;

export class SessionActor {
  readonly session: string;
  readonly #options: ActorOptions;
  #tasks = 0;
  #asides = 0;
  /** What it waits for now, for a report. */
  #waitsFor = "";

  constructor(options: ActorOptions) {
    this.#options = options;
    this.session = options.session;
  }

  get waitsFor(): string {
    return this.#waitsFor;
  }

  /** Works until the signal fires, and resolves when the last task has ended. */
  async work(signal: AbortSignal): Promise<void> {
    const { random, pauseMs, watcher, journal, session, sender, talksAtFirst } = this.#options;
    const watching = watcher && this.#watch(watcher, signal);
    // The first tasks begin at different times.
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const talks = isFirst && talksAtFirst;
      const pause = isFirst ? random.next() * pauseMs : pauseMs * (0.5 + random.next());
      await sleep(talks ? 0 : pause, undefined, { signal }).catch(() => {});
      if (signal.aborted) break;
      try {
        const name = `${session}-${this.#tasks++}`;
        await this.#task(talks ? drawTalk(random, name) : drawTask(random, name), signal);
      } catch (error) {
        journal.complain(sender.name, session, String(error));
      }
      this.#waitsFor = "";
    }
    await watching;
  }

  /** Sends one more message, and waits for its end: what an aborted run left goes in with it. */
  async finish(): Promise<void> {
    const { sender, session, journal } = this.#options;
    const task: Task = {
      name: `${session}-${this.#tasks++}`,
      turns: [],
      words: 3,
      isUncounted: false,
    };
    const { runId } = await this.#send("chat.send", {
      name: task.name,
      text: textOf(task),
      agentId: "worker",
    });
    sender.expect(session, runId);
    this.#waitsFor = `the end of ${runId}`;
    await journal.stream(sender.name, session, runId, true).ended;
    this.#waitsFor = "";
  }

  async #watch(watcher: DrillClient, signal: AbortSignal): Promise<void> {
    const { random, session, journal } = this.#options;
    await watcher.subscribe(session).catch((error: unknown) => {
      if (!(error instanceof Refusal && error.isRetryable))
        journal.complain(watcher.name, session, String(error));
    });
    while (!signal.aborted) {
      await sleep(random.between(3000, 15_000), undefined, { signal }).catch(() => {});
      if (!signal.aborted) watcher.move();
    }
  }

  async #task(task: Task, signal: AbortSignal): Promise<void> {
    const { random, sender, session, journal } = this.#options;
    const agentId = task.isUncounted ? "thrifty" : "worker";
    const about = { name: task.name, text: textOf(task), agentId };
    const { runId } = await this.#send("chat.send", about);
    sender.expect(session, runId);
    const stream = journal.stream(sender.name, session, runId, true);
    this.#asides = 0;
    const ended = stream.ended.then(() => true);
    for (let isOver = false; !isOver;) {
      this.#waitsFor = `the end of ${runId}`;
      isOver = await Promise.race([ended, sleep(random.between(200, 1500)).then(() => false)]);
      if (!isOver && !signal.aborted) await this.#act(runId);
    }
  }

  /** Does one of the things that people do while they wait, or nothing. */
  async #act(runId: string): Promise<void> {
    const { random, sender, journal } = this.#options;
    const what = random.next();
    if (what < 0.1) {
      journal.counts.moves++;
      sender.move();
    } else if (what < 0.16) await this.#resend();
    else if (what < 0.25) await this.#aside(what < 0.22 ? "chat.steer" : "chat.followUp");
    else if (what < 0.265) await this.#abort(runId);
  }

  async #aside(method: SendMethod): Promise<void> {
    const { session } = this.#options;
    if (this.#asides++ >= MAX_ASIDES) return;
    const name = `${session}-${this.#tasks++}`;
    this.#follow(await this.#send(method, { name, text: asideText(name) }));
  }

  /** Sends one of the last messages once more, as a client that never got the answer. */
  async #resend(): Promise<void> {
    const { journal, random, session } = this.#options;
    const own = journal.messages.filter((message) => message.session === session);
    const sent = random.pick(own.slice(-RESENT));
    journal.counts.resends++;
    this.#follow(await this.#post(methods[sent.kind], sent));
  }

  /** Every run that is named has to come. A message that waits has none yet. */
  #follow({ runId, status }: Result<"chat.send">): void {
    const { session, sender } = this.#options;
    if (status !== "waiting") sender.expect(session, runId);
  }

  async #abort(runId: string): Promise<void> {
    const { session, sender, journal } = this.#options;
    const abort = { session, runId, isAcknowledged: false };
    journal.aborts.push(abort);
    try {
      await sender.request("chat.abort", { sessionKey: session, runId });
      abort.isAcknowledged = true;
    } catch (error) {
      if (!(error instanceof Refusal) || !error.isRetryable)
        journal.complain(sender.name, session, `chat.abort: ${String(error)}`);
    }
  }

  /** Sends a message until it is accepted. */
  async #send(
    method: SendMethod,
    about: { readonly name: string; readonly text: string; readonly agentId?: string },
  ): Promise<Result<"chat.send">> {
    const { session, sender, journal } = this.#options;
    const { name, text, agentId } = about;
    const sent: SentMessage & { readonly agentId?: string } = {
      client: sender.name,
      session,
      name,
      text,
      kind: kinds[method],
      key: `run-${name}`,
      answers: [],
      ...(agentId !== undefined && { agentId }),
    };
    journal.messages.push(sent);
    return this.#post(method, sent);
  }

  async #post(
    method: SendMethod,
    sent: SentMessage & { readonly agentId?: string },
  ): Promise<Result<"chat.send">> {
    const { sender, journal } = this.#options;
    const { session: sessionKey, text: message, key: idempotencyKey, agentId, name } = sent;
    for (;;) {
      this.#waitsFor = `the answer to ${method} of ${name}`;
      try {
        const params = {
          sessionKey,
          message,
          idempotencyKey,
          ...(agentId !== undefined && { agentId }),
        };
        const result = await sender.post(method, params);
        sent.answers.push({ runId: result.runId, status: result.status });
        return result;
      } catch (error) {
        if (!(error instanceof Refusal) || !error.isRetryable) throw error;
        journal.counts.retries++;
        await sleep(300);
      }
    }
  }
}
