/**
 * A random test of the gateway. Clients do everything that clients can do, concurrently, over
 * connections that are cut and servers that are stopped and killed. The promises of docs/gateway.md
 * must hold. A seed determines the actions; their timing depends on the machine.
 */
import { defineTool, messageText } from "@bowline/core";
import { createScriptedModel } from "@bowline/core/testing";
import { WebSocket } from "ws";
import { GatewayClient, type RequestError } from "../../src/gateway/client/client.ts";
import type { Decision, Result } from "../../src/gateway/protocol/protocol.ts";
import { startGateway, type Gateway } from "../../src/gateway/server/server.ts";
import { agents, token, wait } from "./gateway.ts";
import { answerTo } from "./model-answer.ts";
import { checkMessages, checkTexts } from "./model-check.ts";
import { Disk } from "./model-disk.ts";
import { Ledger, Sight, type Message } from "./model-ledger.ts";
import { Proxy } from "./model-proxy.ts";
import { readAsEventSource, readWithFetch, SocketReader, type Reply } from "./model-readers.ts";
import { seeded } from "./seeded.ts";

const keys = ["s0", "s1", "s2"];
const forks = ["f0", "f1"];
const image = { mimeType: "image/png", data: Buffer.alloc(30).toString("base64") } as const;

export interface PlayOptions {
  /** Actions per client. Default 25. */
  readonly steps?: number;
  /** Clients of each kind. Default 2. */
  readonly clients?: number;
  /** Whether servers are stopped and killed. Default true. */
  readonly isRestarted?: boolean;
}

/** Returns descriptions of the broken promises. */
export async function play(seed: number, options: PlayOptions = {}): Promise<readonly string[]> {
  const world = new World(seed, options);
  try {
    await world.play();
  } finally {
    await world.close();
  }
  return world.ledger.faults;
}

class World {
  readonly ledger = new Ledger();
  readonly #seed: number;
  readonly #options: Required<PlayOptions>;
  readonly #random: () => number;
  /** Work in progress, by name. */
  readonly #work = new Map<Promise<void>, string>();
  readonly #clients: GatewayClient[] = [];
  readonly #sockets = new Set<SocketReader>();
  /** Messages with a key that may be resent. */
  readonly #sent: { readonly word: string; readonly text: string; readonly sessionKey: string }[] =
    [];
  #disk: Disk;
  #gateway: Gateway | undefined;
  #proxy: Proxy | undefined;
  #observer: SocketReader | undefined;
  #words = 0;
  #isCalm = false;
  #isOver = false;

  constructor(seed: number, { steps = 25, clients = 2, isRestarted = true }: PlayOptions) {
    this.#seed = seed;
    this.#options = { steps, clients, isRestarted };
    this.#random = seeded(seed);
    this.#disk = new Disk(seeded(seed + 0.5));
  }

  async play(): Promise<void> {
    const { clients, isRestarted } = this.#options;
    this.#proxy = await Proxy.listen(() => {
      if (this.#isCalm || this.#random() < 0.4) return Infinity;
      return Math.floor(this.#random() ** 2 * 20_000);
    });
    await this.#start();
    const acting: Promise<void>[] = [];
    for (let index = 0; index < clients; index++) {
      acting.push(this.#actSocket(index), this.#actClient(index), this.#actHttp(index));
    }
    let isDone = false;
    const troubling = isRestarted ? this.#trouble(() => isDone) : Promise.resolve();
    const watching = this.#watch(() => isDone);
    await Promise.all(acting);
    isDone = true;
    await Promise.all([troubling, watching]);
    this.#isCalm = true;
    if (await this.#settle()) {
      await this.#sendHeld();
      await checkMessages(this.ledger, this.#disk, keys);
      for (const sessionKey of keys) {
        const reply = await this.#observer?.ask("chat.history", { sessionKey, limit: 500 });
        if (typeof reply === "object" && "result" in reply) checkTexts(this.ledger, reply.result);
      }
    }
    this.#isOver = true;
    for (const client of this.#clients) client.close();
    for (const { socket } of this.#sockets) socket.terminate();
    await this.#allDone("goes on");
    await this.#until("connections are left", async () => (await this.#health()).connections === 1);
    const closing = this.#gateway?.close();
    this.#gateway = undefined;
    await this.#within("the server does not close", Promise.resolve(closing), 30_000);
    if (this.ledger.faults.length > 0) this.ledger.faults.push(`seed ${this.#seed}`);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    for (const client of this.#clients) client.close();
    for (const { socket } of this.#sockets) socket.terminate();
    this.#observer?.socket.terminate();
    this.#proxy?.close();
    await this.#gateway?.close();
  }

  async #start(): Promise<void> {
    const note = defineTool({
      name: "bash",
      description: "Notes.",
      parameters: { type: "object", properties: { command: { type: "string" } } },
      execute: async () => wait(3).then(() => "noted"),
    });
    this.#gateway = await startGateway({
      tokens: { full: token },
      store: this.#disk.store,
      pending: this.#disk.pending,
      agents: () => agents,
      backendFor: () => ({ model: this.#model, streamFn: this.#streamFn, isPractice: false }),
      systemPrompt: () => "You are a test.",
      tools: () => [note],
      workspacePath: "/work",
      port: 0,
      limits: {
        maxReplayEvents: 12,
        maxRuns: 2,
        maxEnded: 4,
        maxQueuedRuns: 3,
        tickIntervalMs: 60,
        maxAuthFailures: 1e9,
        closeGraceMs: 500,
        approvalTimeoutMs: 400,
      },
    });
    const { port } = this.#gateway;
    if (this.#proxy !== undefined) this.#proxy.upstream = port;
    this.#observer = await SocketReader.enter(this.ledger, "observer", port);
    for (const sessionKey of [...keys, ...forks])
      await this.#observer?.ask("chat.subscribe", { sessionKey });
  }

  readonly #model = createScriptedModel([]).model;

  readonly #streamFn: ReturnType<typeof createScriptedModel>["streamFn"] = (...asked) => {
    const [, context] = asked;
    const last = context.messages.at(-1);
    const text = last?.role === "user" ? messageText(last) : "";
    const delayMs = text.includes("slow") ? 4 : 0;
    return createScriptedModel([answerTo(context, text)], { delayMs, deltaLength: 6 }).streamFn(
      ...asked,
    );
  };

  /** Cuts connections, and stops or kills the server. */
  async #trouble(isDone: () => boolean): Promise<void> {
    const random = seeded(this.#seed + 0.25);
    while (!isDone()) {
      await wait(80 + random() * 300);
      const what = random();
      if (what < 0.4) this.#proxy?.cutAll();
      else if (what < 0.7) await this.#restart();
      else await this.#kill();
    }
  }

  async #restart(): Promise<void> {
    await this.#within(
      "the server does not close",
      Promise.resolve(this.#gateway?.close()),
      30_000,
    );
    this.#observer?.socket.terminate();
    await this.#start();
  }

  async #kill(): Promise<void> {
    const old = this.#gateway;
    if (this.#proxy !== undefined) this.#proxy.upstream = 0;
    this.#proxy?.cutAll();
    this.#observer?.socket.terminate();
    this.#disk = await this.#disk.copy();
    // From now on the old server writes to another disk, and no client is connected to it.
    this.#begin("the close of a killed server", old?.close() ?? Promise.resolve());
    await this.#start();
  }

  #newMessage(
    random: () => number,
    sessionKey: string,
  ): { readonly word: string; readonly text: string } {
    const word = `w${this.#words++}`;
    const flavour = ["plain", "plain", "tool", "slow", "slow", "fail"][
      Math.floor(random() * 6)
    ] as string;
    this.ledger.messages.set(word, { sessionKey, fate: "unknown", runId: undefined });
    return { word, text: `${word} ${flavour}` };
  }

  #noteSent(word: string, reply: Reply<"chat.send">): void {
    const message = this.ledger.messages.get(word);
    if (message === undefined) return;
    if (reply === "lost") message.fate = message.fate === "accepted" ? "accepted" : "lost";
    else if ("refused" in reply) {
      if (message.fate === "unknown") message.fate = "refused";
    } else {
      message.fate = "accepted";
      const { status, runId } = reply.result;
      if (status === "started" || status === "queued") message.runId = runId;
    }
  }

  async #actSocket(index: number): Promise<void> {
    const random = seeded(this.#seed * 31 + index);
    const port = this.#proxy?.port ?? 0;
    let socket: SocketReader | undefined;
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    for (let step = 0; step < this.#options.steps; step++) {
      await wait(random() ** 2 * 60);
      while (socket?.isOpen !== true) {
        socket = await SocketReader.enter(this.ledger, `socket ${index} step ${step}`, port);
        if (socket === undefined) await wait(10);
        else this.#sockets.add(socket);
      }
      const asked = this.#step(socket, pick, random);
      // Sometimes sends the next request before this one is answered.
      if (random() < 0.7) await asked;
      else this.#begin("a request", asked);
      if (random() < 0.05) socket.socket.terminate();
    }
  }

  async #step(
    socket: SocketReader,
    pick: <T>(from: readonly T[]) => T,
    random: () => number,
  ): Promise<void> {
    const sessionKey = pick(keys);
    const known = pick(this.#sent.length === 0 ? [undefined] : this.#sent);
    const what = random();
    if (what < 0.35) {
      const { word, text } = this.#newMessage(random, sessionKey);
      const method = pick(["chat.send", "chat.send", "chat.steer", "chat.followUp"] as const);
      const isKeyed = method !== "chat.send" || random() < 0.7;
      const attachments = random() < 0.1 ? { attachments: [image] } : {};
      if (isKeyed && random() < 0.5 && !("attachments" in attachments))
        this.#sent.push({ word, text, sessionKey });
      const key = isKeyed ? { idempotencyKey: word } : {};
      this.#noteSent(
        word,
        await socket.ask(method, { sessionKey, message: text, ...key, ...attachments }),
      );
    } else if (what < 0.45 && known !== undefined) {
      const method = pick(["chat.send", "chat.steer"] as const);
      const again = {
        sessionKey: known.sessionKey,
        message: known.text,
        idempotencyKey: known.word,
      };
      this.#noteSent(known.word, await socket.ask(method, again));
    } else if (what < 0.55) {
      const runId = known !== undefined && random() < 0.5 ? { runId: known.word } : {};
      const meant = random() < 0.5 ? { sessionKey, ...runId } : runId;
      if ((await socket.ask("chat.abort", meant)) === "lost")
        this.ledger.stopped.add(known?.word).add(sessionKey);
    } else if (what < 0.7) {
      const runId = known?.word ?? "none";
      const seq = random() < 0.7 ? { seq: Math.floor(random() * 30) - 1 } : {};
      const run = random() < 0.7 ? { runId } : {};
      await socket.ask("chat.subscribe", {
        sessionKey: known !== undefined && random() < 0.8 ? known.sessionKey : sessionKey,
        ...run,
        ...seq,
      });
    } else if (what < 0.75) await socket.ask("chat.unsubscribe", { sessionKey });
    else if (what < 0.82) await this.#page(socket, sessionKey);
    else if (what < 0.85) await socket.ask("sessions.list", { limit: 2 });
    else if (what < 0.88)
      await socket.ask("sessions.fork", { sessionKey, newSessionKey: pick(forks) });
    else if (what < 0.9) await socket.ask("sessions.patch", { sessionKey, title: "Another" });
    else if (what < 0.91) {
      this.ledger.deleted.add("s2");
      await socket.ask("sessions.reset", { sessionKey: "s2" });
    } else if (what < 0.93) {
      const key = pick([...forks, "s2"]);
      this.ledger.deleted.add(key);
      await socket.ask("sessions.delete", { sessionKey: key });
    } else {
      const approvalId = socket.asked.at(-1) ?? "none";
      const decision = pick(["allow-once", "deny", "allow-session"] satisfies Decision[]);
      await Promise.all([
        socket.ask("approvals.resolve", { approvalId, decision }),
        random() < 0.5 && socket.ask("exec.deny", { approvalId }),
      ]);
    }
  }

  /**
   * Reading the history in pages must give the same as reading it at once, when nothing was added
   * meanwhile.
   */
  async #page(socket: SocketReader, sessionKey: string): Promise<void> {
    const reply = await socket.ask("chat.history", { sessionKey, limit: 500 });
    if (reply === "lost" || "refused" in reply) return;
    const all = reply.result.messages.map(({ id }) => id);
    const paged: string[] = [];
    let before = all.at(-1);
    while (before !== undefined) {
      const page = await socket.ask("chat.history", { sessionKey, limit: 3, before });
      if (page === "lost" || "refused" in page) return;
      paged.unshift(...page.result.messages.map(({ id }) => id));
      before = page.result.hasMore ? page.result.messages[0]?.id : undefined;
    }
    const then = await socket.ask("chat.history", { sessionKey, limit: 500 });
    const isSame =
      typeof then === "object" && "result" in then && then.result.messages[0]?.id === all[0];
    if (isSame && paged.join() !== all.slice(0, -1).join())
      this.ledger.fault(`history ${all.join()} is paged as ${paged.join()}`);
  }

  /**
   * At any time an accepted message must be in the transcript or waiting, unless its run has ended
   * without it.
   */
  async #watch(isDone: () => boolean): Promise<void> {
    for (let turn = 0; !isDone(); turn++) {
      await wait(3);
      const sessionKey = keys[turn % keys.length] as string;
      const accepted = [...this.ledger.messages].filter(([, { fate }]) => fate === "accepted");
      const reply = await this.#observer?.ask("chat.history", { sessionKey, limit: 500 });
      const isAnswered =
        typeof reply === "object" && "result" in reply && !this.ledger.deleted.has(sessionKey);
      if (isAnswered) this.#checkHeld(sessionKey, accepted, reply.result);
    }
  }

  #checkHeld(
    sessionKey: string,
    accepted: readonly (readonly [string, Message])[],
    { messages, waiting }: Result<"chat.history">,
  ): void {
    const said = messages.flatMap(({ message }) =>
      message.role === "user" ? [messageText(message as never)] : [],
    );
    const there = new Set(
      [...said, ...waiting.map(({ text }) => text)].map((text) => text.split(" ")[0]),
    );
    for (const [word, { sessionKey: own, runId = word }] of accepted)
      if (own === sessionKey && !there.has(word))
        this.#begin("a look", this.#checkOut(word, runId, sessionKey));
  }

  /**
   * A message withdrawn while waiting disappears a moment before that is reported, so it waits for
   * the report.
   */
  async #checkOut(word: string, runId: string, sessionKey: string): Promise<void> {
    const { ledger } = this;
    const isTold = (): boolean =>
      ledger.ends.get(runId) === "chat.error" || ledger.mayBeGone(runId, sessionKey);
    for (let left = 800; left > 0 && !isTold(); left--) await wait(10);
    if (!isTold())
      this.ledger.fault(
        `${word} was accepted, and is neither in the history of ${sessionKey} nor waits`,
      );
  }

  async #actClient(index: number): Promise<void> {
    const random = seeded(this.#seed * 37 + index);
    const client = new GatewayClient({
      url: `http://127.0.0.1:${this.#proxy?.port}`,
      token,
      WebSocket,
      backoff: { firstMs: 5, maxMs: 20 },
      random,
    });
    this.#clients.push(client);
    for (let step = 0; step < this.#options.steps / 2; step++) {
      await wait(random() * 60);
      const sessionKey = keys[Math.floor(random() * keys.length)] as string;
      const { word, text } = this.#newMessage(random, sessionKey);
      const known = this.#sent[Math.floor(random() * this.#sent.length)];
      if (known !== undefined && random() < 0.4)
        this.#begin(`a look at ${known.word}`, lookAt(client, known));
      const method = random() < 0.8 ? "chat.send" : "chat.steer";
      this.#sent.push({ word, text, sessionKey });
      if (method === "chat.send")
        this.#begin(
          `client ${index} with ${word}`,
          this.#follow(client, index, word, text, sessionKey),
        );
      else
        this.#begin(
          `post ${word}`,
          client.post(method, { sessionKey, message: text, idempotencyKey: word }).then(
            (result) => this.#noteSent(word, { result }),
            (error: RequestError) => this.#noteSent(word, { refused: error.code }),
          ),
        );
    }
  }

  async #follow(
    client: GatewayClient,
    index: number,
    word: string,
    text: string,
    sessionKey: string,
  ): Promise<void> {
    const message = this.ledger.messages.get(word);
    try {
      const run = await client.send({ sessionKey, message: text, idempotencyKey: word });
      if (message !== undefined) [message.fate, message.runId] = ["accepted", run.runId];
      const sight = new Sight(this.ledger, `client ${index}`);
      for await (const frame of run) sight.take(frame);
      const outcome = await run.result().catch((error: RequestError) => error.code);
      const isKnown =
        typeof outcome !== "string" ||
        sight.isInterrupted ||
        this.ledger.mayBeGone(word, sessionKey);
      if (!isKnown && client.state !== "ended")
        this.ledger.fault(`client ${index}: ${word} came to ${outcome}`);
    } catch (error) {
      const { code } = error as RequestError;
      if (code === "connection_lost" && client.state === "ended") {
        if (!this.#isOver) this.ledger.fault(`client ${index}: it ended`);
      } else this.#noteSent(word, { refused: code });
    }
  }

  async #actHttp(index: number): Promise<void> {
    const random = seeded(this.#seed * 41 + index);
    const port = this.#proxy?.port ?? 0;
    for (let step = 0; step < this.#options.steps / 2; step++) {
      await wait(random() * 80);
      const sessionKey = keys[Math.floor(random() * keys.length)] as string;
      const { word, text } = this.#newMessage(random, sessionKey);
      const status = await this.#post(port, { sessionKey, message: text, idempotencyKey: word });
      if (status === 0) this.#noteSent(word, "lost");
      else if (status !== 202) this.#noteSent(word, { refused: "" });
      else this.#noteSent(word, { result: { runId: word, sessionKey, status: "queued" } });
      if (status !== 202) continue;
      this.#sent.push({ word, text, sessionKey });
      const stream = { runId: word, sessionKey, port };
      const seq = random() < 0.3 ? undefined : Math.floor(random() * 40) - 1;
      this.#begin(
        `EventSource of ${word}`,
        readAsEventSource(this.ledger, stream, () => this.#isOver),
      );
      this.#begin(`fetch of ${word}`, readWithFetch(this.ledger, stream, seq));
    }
  }

  /** Retries until it is answered, four times at most, and then returns 0. */
  async #post(port: number, params: object): Promise<number> {
    for (let left = 4; left > 0; left--) {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const sent = { method: "POST", headers, body: JSON.stringify(params) };
      const response = await fetch(`http://127.0.0.1:${port}/api/chat`, sent).catch(
        () => undefined,
      );
      await response?.arrayBuffer().catch(() => {});
      if (response !== undefined && response.status !== 429) return response.status;
      await wait(10);
    }
    return 0;
  }

  async #health(): Promise<{ readonly runs: number; readonly connections: number }> {
    const reply = await this.#observer?.ask("health.check", {});
    return typeof reply === "object" && "result" in reply
      ? reply.result
      : { runs: -1, connections: -1 };
  }

  /** Returns whether all runs end when clients are idle, and all subscribers are told. */
  async #settle(): Promise<boolean> {
    const isQuiet = async (): Promise<boolean> => {
      const waiting = await Promise.all([...keys, ...forks].map((key) => this.#waiting(key)));
      return (
        (await this.#health()).runs === 0 && waiting.flat().every(({ kind }) => kind === "held")
      );
    };
    if (!(await this.#until("runs do not end", isQuiet))) return false;
    await this.#until(
      "an end was not told",
      async () => [...this.#sockets].every(({ owed }) => owed.length === 0),
      () =>
        [...this.#sockets]
          .flatMap(({ name, owed }) => owed.map((runId) => `${name}: ${runId}`))
          .join(),
    );
    await this.#allDone("waits for ever");
    return true;
  }

  async #waiting(
    sessionKey: string,
  ): Promise<readonly { readonly kind: string; readonly text: string }[]> {
    const reply = await this.#observer?.ask("chat.history", { sessionKey, limit: 1 });
    return typeof reply === "object" && "result" in reply ? reply.result.waiting : [];
  }

  /** Sends a message to each session, because held messages go with the next one. */
  async #sendHeld(): Promise<void> {
    for (const sessionKey of keys) {
      const { word } = this.#newMessage(() => 0, sessionKey);
      const reply = await this.#observer?.ask("chat.send", {
        sessionKey,
        message: `${word} last`,
        idempotencyKey: word,
      });
      if (reply !== undefined) this.#noteSent(word, reply);
      await this.#until(`${word}, the last, has no end`, async () => this.ledger.ends.has(word));
      if (this.ledger.ends.get(word) !== "chat.final")
        this.ledger.fault(`the last ended with ${this.ledger.ends.get(word)}`);
      if ((await this.#waiting(sessionKey)).length > 0)
        this.ledger.fault(`messages of ${sessionKey} are held for ever`);
    }
    const left = async (): Promise<string> => JSON.stringify(await this.#disk.pending.list());
    await this.#until("messages are kept that are done", async () => (await left()) === "[]");
  }

  async #until(
    what: string,
    isSo: () => Promise<boolean>,
    more = (): string => "",
  ): Promise<boolean> {
    const deadline = Date.now() + 30_000;
    while (!(await isSo())) {
      if (Date.now() > deadline) {
        this.ledger.fault(`${what} ${more()}`);
        return false;
      }
      await wait(10);
    }
    return true;
  }

  #begin(name: string, work: Promise<void>): void {
    const done = work.finally(() => this.#work.delete(done));
    this.#work.set(done, name);
  }

  async #allDone(what: string): Promise<void> {
    const deadline = Date.now() + 30_000;
    while (this.#work.size > 0 && Date.now() < deadline) await wait(5);
    for (const name of this.#work.values()) this.ledger.fault(`${name} ${what}`);
  }

  async #within(what: string, work: Promise<unknown>, ms: number): Promise<void> {
    const isLate = await Promise.race([work.then(() => false), wait(ms).then(() => true)]);
    if (isLate) this.ledger.fault(what);
  }
}

/**
 * Follows a run that another client began to its end. The run may be unknown, or the connection
 * lost.
 */
async function lookAt(
  client: GatewayClient,
  run: { readonly word: string; readonly sessionKey: string },
): Promise<void> {
  try {
    await (await client.follow(run.sessionKey, run.word)).result();
  } catch {
    // the check's error reports it
  }
}
