/** Processes that are killed with SIGKILL while their answer streams. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentMessage } from "../../src/agent/index.ts";
import { messageText, type AssistantMessage } from "../../src/llm/message.ts";
import { openSession, type Session } from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { checkChatRequest } from "../../src/testing/index.ts";
import { compileCache } from "../../../../test/support/compile-cache.ts";
import { loopback, type Loopback } from "../../../../test/support/loopback.ts";

/** Sessions that are killed, each twice. */
const SESSIONS = 5;
/** The text that may be lost: what was shown in the last moment before the kill. */
const LOST_MS = 200;
/** The words of an answer that nobody waits for the end of. */
const WORDS = 2000;
const NOTE = "[The answer above is incomplete. The answer was cut: its process ended.]";

interface Shown {
  readonly at: number;
  readonly length: number;
}

describe("an agent that is killed while its answer streams", () => {
  it(`has all but the last ${LOST_MS} ms of the text, once, also after a second kill`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "bowline-stream-"));
    await using server = await wordServer();
    try {
      const lanes = Array.from({ length: SESSIONS }, (_, number) => number);
      const ends = lanes.map((number) => killTwice(folder, `s${number}`, server));
      // When one fails, the processes of the others still write into the folder.
      await Promise.allSettled(ends);
      const lost = await Promise.all(ends);
      t.diagnostic(`characters lost of those shown: ${lost.flat().join(", ")}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

async function killTwice(folder: string, id: string, server: Loopback): Promise<number[]> {
  const store = createJsonlStore(folder);
  const kept: string[] = [];
  const lost: number[] = [];
  for (let kill = 1; kill <= 2; kill++) {
    const shown = await liveAndDie(folder, id, server.baseUrl);
    const session = await openSession(store, id, { readOnly: true });
    assert.deepEqual(session.damage, []);
    const { run } = await session.state();
    // None, if the process was killed before it saved the answer for the first time.
    const saved = run?.partialAnswer && messageText(run.partialAnswer);
    const partial = saved ?? "";
    assert.ok(textOf(WORDS).startsWith(partial), partial);
    const last = shown.at(-1) as Shown;
    const old = shown.findLast(({ at }) => at <= last.at - LOST_MS)?.length ?? 0;
    assert.ok(partial.length >= old, `${partial.length} of ${old} characters were saved`);
    lost.push(last.length - partial.length);
    assert.deepEqual(
      (await answersIn(session)).map((answer) => messageText(answer)),
      kept,
    );
    if (saved !== undefined) kept.push(saved);
  }
  await ended(folder, id, server);
  const session = await openSession(store, id, { readOnly: true });
  const answers = await answersIn(session);
  assert.deepEqual(
    answers.map((answer) => [answer.stopReason, messageText(answer)]),
    [...kept.map((text) => ["aborted", text]), ["stop", "Done."]],
  );
  return lost;
}

/** Runs a process until some text was shown, kills it at random, and returns what it showed. */
async function liveAndDie(folder: string, id: string, baseUrl: string): Promise<Shown[]> {
  const child = start(folder, id, baseUrl);
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  const closed = once(child, "close");
  const least = 1 + Math.random() * 60;
  while (said.split("\n").length <= least && child.exitCode === null)
    await Promise.race([once(child.stdout, "data"), closed]);
  await sleep(Math.random() * 150);
  child.kill("SIGKILL");
  await closed;
  assert.equal(child.signalCode, "SIGKILL", said);
  const lines = said.split("\n").slice(0, -1); // the last line may be cut by the kill
  return lines.map((line) => JSON.parse(line) as Shown);
}

/** Runs a process to its end. Its model answers at once, with what it was asked checked. */
async function ended(folder: string, id: string, server: Loopback): Promise<void> {
  const child = start(folder, id, `${server.baseUrl}/short`);
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  await once(child, "close");
  assert.match(said, /\{"ended":"done"\}\n$/);
}

function start(folder: string, id: string, baseUrl: string) {
  const script = join(import.meta.dirname, "stream-child.ts");
  const env = { ...process.env, ...compileCache };
  return spawn(process.execPath, [script, folder, id, baseUrl], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

const textOf = (words: number): string =>
  Array.from({ length: words }, (_, number) => `word ${number} äöü🪢 `).join("");

/** A server that says a word each millisecond, and checks that each cut answer is sent back. */
async function wordServer(): Promise<Loopback> {
  return loopback(async (response, request, body) => {
    const { messages } = JSON.parse(body) as { messages: { role: string; content: string }[] };
    const problems = checkChatRequest(JSON.parse(body));
    const roles = messages.map(({ role }) => role).join(" ");
    if (problems.length > 0 || !/^user(?: assistant user)*$/.test(roles))
      throw new Error(`${roles} ${problems.join("; ")}`);
    for (const { role, content } of messages.slice(1)) {
      const isRight = role === "user" ? content === NOTE : textOf(WORDS).startsWith(content);
      if (!isRight) throw new Error(`${role}: ${content}`);
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const say = (content: string, finish: string | null = null): void =>
      void response.write(
        `data: ${JSON.stringify({ id: "1", model: "m", choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`,
      );
    if (request.url?.includes("/short")) say("Done.");
    else
      for (let number = 0; number < WORDS && !response.destroyed; number++) {
        say(`word ${number} äöü🪢 `);
        await sleep(1);
      }
    say("", "stop");
    response.end("data: [DONE]\n\n");
  });
}

async function answersIn(session: Session): Promise<AssistantMessage[]> {
  const messages = (await session.allMessages()) as AgentMessage[];
  return messages.filter((message) => message.role === "assistant");
}
