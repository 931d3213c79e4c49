/**
 * A disk that becomes full at any write that a message causes. An acknowledged message must be in
 * the transcript or waiting, and a client that resends it must learn that. `BOWLINE_DISK_RUNS=500`
 * tries more.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { BowlineError, messageText, type UserMessage } from "@bowline/core";
import { createMemoryStore, createSession, type AnyEntry, type Store } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";
import { scriptedToolCall, type ScriptedStep } from "@bowline/core/testing";
import { withAppend } from "../../../../test/support/with-append.ts";
import {
  createMemoryPending,
  createPendingFolder,
  type Pending,
} from "../../src/gateway/runs/pending.ts";
import { temporary } from "../command.ts";
import { heldTool } from "../held-tool.ts";
import { gatewayWith, wait, type TestClient, type TestOptions } from "./gateway.ts";
import { sweep } from "../../../../test/support/sweep.ts";

const RUNS = sweep({ long: 120, short: 30, variable: "BOWLINE_DISK_RUNS" });
const allow: NonNullable<TestOptions["rules"]> = {
  judge: () => ({ action: "allow" }),
  add: async () => {},
};
const SESSION = "s";

type Send = "chat.send" | "chat.steer" | "chat.followUp";

const done = Array.from({ length: 12 }, () => "Done.");

interface Kept {
  readonly store: Store;
  readonly pending: Pending;
}

/** Fails the nth write, and with `forGood` every later one until `hasRoom` is set. */
class FullDisk implements Kept {
  readonly store: Store;
  readonly pending: Pending;
  readonly #refused: number;
  readonly #forGood: boolean;
  #writes = 0;
  hasRoom = false;

  constructor(refused: number, forGood: boolean, { store, pending }: Kept) {
    this.#refused = refused;
    this.#forGood = forGood;
    const create = async (...asked: Parameters<Store["create"]>) => {
      this.#write();
      return store.create(...asked);
    };
    this.store = withAppend({ ...store, create }, async (append, entries) => {
      await wait(0);
      this.#write();
      await append(entries);
    });
    this.pending = {
      ...pending,
      add: async (message) => {
        this.#write();
        await pending.add(message);
      },
    };
  }

  /** Whether a write has failed. */
  get wasFull(): boolean {
    return this.#writes >= this.#refused;
  }

  #write(): void {
    this.#writes++;
    const isFull = this.#forGood ? this.#writes >= this.#refused : this.#writes === this.#refused;
    if (isFull && !this.hasRoom)
      throw new BowlineError("storage_failed", "There is no room left.", { retryable: true });
  }
}

/** Acknowledged messages: the key, and the method they were sent with. */
type Sent = Map<string, Send>;

async function tryToSend(client: TestClient, sent: Sent, method: Send, key: string): Promise<void> {
  const params = { sessionKey: SESSION, message: `text of ${key}`, idempotencyKey: key };
  try {
    await client.call(method, params);
    sent.set(key, method);
  } catch (error) {
    const { frame } = error as { frame?: { data?: { code?: string } } };
    assert.equal(frame?.data?.code, "storage_failed", String(error));
  }
}

async function quiet(client: TestClient): Promise<void> {
  while ((await client.call("health.check", {})).runs > 0) await wait(1);
}

async function textsIn(store: Store): Promise<string[]> {
  const entries: AnyEntry[] = [];
  try {
    for await (const batch of store.read(SESSION)) entries.push(...batch);
  } catch {
    return []; // the session was never created
  }
  return entries.flatMap((entry) => {
    const { message } = entry as { message?: UserMessage };
    return entry.type === "message" && message?.role === "user" ? [messageText(message)] : [];
  });
}

/** Asserts that each message is either in the transcript or waiting, and only once. */
async function assertThere(client: TestClient, { store }: Kept, sent: Sent): Promise<string[]> {
  const { waiting } = await client.call("chat.history", { sessionKey: SESSION });
  const texts = [...(await textsIn(store)), ...waiting.map(({ text }) => text)];
  for (const key of sent.keys())
    assert.equal(
      texts.filter((text) => text === `text of ${key}`).length,
      1,
      `${key}: ${texts.join(", ")}`,
    );
  return waiting.map(({ messageId }) => messageId);
}

/**
 * Resends each message with its key once there is room, and asserts that the transcript then has it
 * once.
 */
async function assertSentAgain(client: TestClient, kept: Kept, sent: Sent): Promise<void> {
  for (const [key, method] of sent) {
    const before = await textsIn(kept.store);
    const again = { sessionKey: SESSION, message: `text of ${key}`, idempotencyKey: key };
    const { status } = await client.call(method, again);
    const isIn = before.includes(`text of ${key}`);
    if (isIn) assert.ok(status === "finished" || status === "in_flight", `${key}: ${status}`);
    if (status === "started") assert.equal(isIn, false, key);
    await quiet(client);
  }
  await client.call("chat.send", { sessionKey: SESSION, message: "last", idempotencyKey: "last" });
  await client.end("last");
  await quiet(client);
  const texts = await textsIn(kept.store);
  for (const key of sent.keys())
    assert.equal(
      texts.filter((text) => text === `text of ${key}`).length,
      1,
      `${key}: ${texts.join(", ")}`,
    );
  const { waiting } = await client.call("chat.history", { sessionKey: SESSION });
  assert.deepEqual(waiting, []);
  assert.deepEqual(await kept.pending.list(), []);
}

interface Try {
  readonly refused: number;
  readonly forGood: boolean;
  readonly end: "stays" | "restarts" | "is killed";
  readonly shape: "one" | "steered" | "queued" | "aborted";
}

function* tries(): Generator<Try> {
  for (let refused = 1; ; refused++)
    for (const shape of ["one", "steered", "queued", "aborted"] as const)
      for (const end of ["stays", "restarts", "is killed"] as const)
        for (const forGood of [false, true]) yield { refused, forGood, end, shape };
}

/** Returns whether the disk was full before everything was sent. */
async function run({ refused, forGood, end, shape }: Try): Promise<boolean> {
  const kept = { store: createMemoryStore(), pending: createMemoryPending() };
  const disk = new FullDisk(refused, forGood, kept);
  const { tool, release } = heldTool();
  const options: TestOptions = { tools: () => [tool], rules: allow };
  const call: ScriptedStep = { content: [scriptedToolCall("wait", {}, "w")] };
  const script = [call, ...done];
  const { store, pending } = disk;
  const sent: Sent = new Map();
  {
    await using first = await gatewayWith(script, { ...options, store, pending });
    const client = await first.client();
    await sendAll(client, kept, sent, shape);
    release();
    if (end !== "is killed") {
      await quiet(client);
      await assertThere(client, kept, sent);
    }
    if (end === "stays") {
      disk.hasRoom = true;
      await assertSentAgain(client, kept, sent);
    }
  }
  disk.hasRoom = true;
  await using second = await gatewayWith(done, { ...options, ...kept });
  const next = await second.client();
  await quiet(next);
  await assertThere(next, kept, sent);
  if (end !== "stays") await assertSentAgain(next, kept, sent);
  return disk.wasFull;
}

async function sendAll(
  client: TestClient,
  { store }: Kept,
  sent: Sent,
  shape: Try["shape"],
): Promise<void> {
  await tryToSend(client, sent, "chat.send", "one");
  const isCalled = (): boolean => client.frames.some(({ event }) => event === "chat.tool_call");
  for (let turns = 0; turns < 20 && sent.size > 0 && !isCalled(); turns++) await wait(1);
  if (shape === "steered") await tryToSend(client, sent, "chat.steer", "two");
  if (shape === "queued") await tryToSend(client, sent, "chat.send", "two");
  if (shape !== "aborted") return;
  await tryToSend(client, sent, "chat.followUp", "two");
  await client.call("chat.abort", { sessionKey: SESSION }).catch(() => {});
  // A client that aborts a run also withdraws what has not begun.
  const texts = await textsIn(store);
  for (const key of sent.keys()) if (!texts.includes(`text of ${key}`)) sent.delete(key);
}

describe("an acknowledged message", () => {
  it(`is not lost when the disk refuses any write (${RUNS} runs)`, async () => {
    let full = 0;
    let at = 0;
    for (const one of tries()) {
      if (at++ === RUNS) break;
      const wasFull = await run(one).catch((error: unknown) => {
        throw new Error(JSON.stringify(one), { cause: error });
      });
      if (wasFull) full++;
    }
    assert.ok(full > RUNS / 3, `${full} of ${RUNS} runs met a full disk`);
  });

  for (const end of [undefined, "error", "interrupted"] as const)
    it(`waits for the next start when the recorded end of its run is ${end ?? "missing"} and another run followed`, async () => {
      const [store, pending] = [createMemoryStore(), createMemoryPending()];
      const session = await createSession(store, { id: SESSION });
      const model = { provider: "scripted", model: "scripted" };
      await session.append({ type: "run_start", runId: "lost", model });
      if (end !== undefined)
        await session.append({ type: "run_end", runId: "lost", reason: end, usage: {} });
      await session.append({ type: "run_start", runId: "next", model });
      const message = { role: "user", content: "next", timestamp: 2 } as const;
      await session.append({ type: "message", runId: "next", message });
      await session.append({ type: "run_end", runId: "next", reason: "done", usage: {} });
      await session.close();
      const lost = { id: "lost", kind: "send", sessionKey: SESSION, agentId: "assistant" } as const;
      await pending.add({ ...lost, text: "text of lost", timestamp: 1 });
      await using server = await gatewayWith(done, { store, pending });
      const client = await server.client();
      const sent: Sent = new Map([["lost", "chat.send"]]);
      assert.deepEqual(await assertThere(client, { store, pending }, sent), ["lost"]);
      await client.call("chat.send", { sessionKey: SESSION, message: "on", idempotencyKey: "on" });
      await client.end("on");
      assert.deepEqual(await assertThere(client, { store, pending }, sent), []);
    });

  it("is not lost when the file system is full", async (test) => {
    await using home = await temporary();
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", home.path], {
        stdio: "ignore",
      });
    } catch {
      return test.skip("only root may mount a small file system");
    }
    try {
      const kept = {
        store: createJsonlStore(join(home.path, "sessions")),
        pending: createPendingFolder(join(home.path, "pending")),
      };
      const filler = join(home.path, "filler");
      const sent: Sent = new Map();
      let refused = 0;
      for (let round = 0; round < 12; round++) {
        await using server = await gatewayWith(
          Array.from({ length: 40 }, () => "word ".repeat(500)),
          kept,
        );
        const client = await server.client();
        await quiet(client);
        // Leaves only a few pages free, fewer in each round.
        await fill(filler, (12 - round) * 4096);
        for (let at = 0; at < 4; at++) {
          const before = sent.size;
          await tryToSend(client, sent, "chat.send", `${round}-${at}`);
          if (sent.size === before) refused++;
        }
        await quiet(client);
        await assertThere(client, kept, sent);
        await rm(filler);
      }
      assert.ok(refused > 0 && sent.size > 0, `${refused} refused, ${sent.size} taken`);
      await using server = await gatewayWith(
        Array.from({ length: 80 }, () => "Done."),
        kept,
      );
      const client = await server.client();
      await quiet(client);
      await assertSentAgain(client, kept, sent);
    } finally {
      execFileSync("umount", [home.path]);
    }
  });
});

/** Fills the disk with a file, except for `left` bytes. */
async function fill(path: string, left: number): Promise<void> {
  let size = 256 * 1024;
  for (; size > 0; size -= 4096)
    try {
      await writeFile(path, Buffer.alloc(size));
      break;
    } catch {
      await rm(path, { force: true });
    }
  await writeFile(path, Buffer.alloc(Math.max(0, size - left)));
}
