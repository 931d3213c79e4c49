/**
 * Another process on the same sessions, for tests: `child.ts <task> <folder> …`. Reports in lines
 * of JSON.
 */
import { existsSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { errorText, isBowlineError, toErrorInfo } from "../../src/errors.ts";
import { Agent, defineTool } from "../../src/index.ts";
import {
  attachSession,
  createSession,
  openSession,
  type Session,
  type Store,
} from "../../src/session/index.ts";
import { createScriptedModel, scriptedToolCall } from "../../src/testing/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { textFor } from "./support.ts";

const [task = "", folder = "", ...rest] = process.argv.slice(2);
const store = createJsonlStore(folder);

/** Writes synchronously, so that the line survives a kill. */
function say(value: unknown): void {
  writeSync(1, `${JSON.stringify(value)}\n`);
}

const tasks: Readonly<Record<string, () => Promise<void>>> = {
  write,
  fork,
  hold,
  take,
  follow,
  fill,
  readOnly,
  output,
};
await tasks[task]?.();

/** Appends without end, several at a time, and reports each acknowledged `seq`. */
async function write(): Promise<void> {
  const [id = ""] = rest;
  const session = await openSession(store, id);
  say("open");
  for (let round = 0; ; round++) {
    await Promise.all(Array.from({ length: 1 + (round % 4) }, () => appendText(session)));
  }
}

/** The text depends only on the `seq`, so that a test can recompute it. */
async function appendText(session: Session): Promise<void> {
  const { seq } = await session.append({ type: "label", targetId: "x", label: "" });
  say(seq);
  const message = await session.append({
    type: "message",
    message: { role: "user", content: textFor(seq), timestamp: seq },
  });
  say(message.seq);
}

/** Forks a session without end. */
async function fork(): Promise<void> {
  const session = await openSession(store, rest[0] ?? "", { readOnly: true });
  say("open");
  for (;;) await (await session.fork()).close();
}

/** Holds a session until it is killed. */
async function hold(): Promise<void> {
  await attempt(async () => void (await openSession(store, rest[0] ?? "")));
  setInterval(() => {}, 1000);
}

/**
 * Once a file `go` exists, opens the session `times` times and appends some entries, in competition
 * with others.
 */
async function take(): Promise<void> {
  const [id = "", name = "", times = "0"] = rest;
  say("ready");
  while (!existsSync(join(folder, "go"))) await new Promise((resolve) => setTimeout(resolve, 1));
  for (let left = Number(times); left > 0;) {
    let session: Session;
    try {
      session = await openSession(store, id);
    } catch (error) {
      if (isBowlineError(error) && error.code === "session_locked") continue;
      throw error;
    }
    for (let at = 0; at < 5; at++)
      await session.append({ type: "label", targetId: name, label: String(left) });
    await session.close();
    left--;
  }
  say("done");
}

/** Follows with `followers` readers until each has `count` entries. */
async function follow(): Promise<void> {
  const [id = "", count = "0", followers = "0"] = rest;
  say("following");
  const all = await Promise.all(
    Array.from({ length: Number(followers) }, async () => {
      const session = await openSession(store, id, { readOnly: true });
      const seen: number[] = [];
      for await (const { seq } of session.follow()) if (seen.push(seq) >= Number(count)) break;
      return seen;
    }),
  );
  say(all);
}

/** In a small folder: appends until it is full, makes room, and appends again. */
async function fill(): Promise<void> {
  const ballast = join(folder, "ballast");
  writeFileSync(ballast, Buffer.alloc(64 * 1024));
  const session = await createSession(store, { id: "s" });
  const acknowledged: string[] = [];
  let failure: unknown;
  while (failure === undefined) {
    const batch = [1, 2, 3].map(() => session.append({ type: "title", title: "x".repeat(3000) }));
    for (const end of await Promise.allSettled(batch)) {
      if (end.status === "fulfilled") acknowledged.push(end.value.id);
      else failure ??= end.reason;
    }
  }
  const created = await attempt(() => createSession(store, { id: "other" }));
  truncateSync(ballast, 0);
  const later = await session.append({ type: "title", title: "there is room again" });
  await session.close();
  const read = await idsOf(createJsonlStore(folder));
  const error = isBowlineError(failure) ? toErrorInfo(failure) : errorText(failure);
  say({ error, created, acknowledged: [...acknowledged, later.id], read });
}

/** Tries every operation in a read-only folder. */
async function readOnly(): Promise<void> {
  const [id = ""] = rest;
  const created = await attempt(() => createSession(store));
  const opened = await attempt(() => openSession(store, id));
  const deleted = await attempt(() => store.delete(id));
  const { sessions } = await store.list();
  const read = await idsOf(store, id);
  say({ created, opened, deleted, listed: sessions.length, read: read.length });
}

/** A run for an output whose second model call never ends. */
async function output(): Promise<void> {
  const session = await openSession(store, rest[0] ?? "");
  const never = new Promise<never>(() => {});
  const asks = { content: [scriptedToolCall("a", {})] };
  const { model, streamFn } = createScriptedModel([asks, () => (say("asking again"), never)]);
  const a = defineTool({
    name: "a",
    description: "The tool a.",
    parameters: { type: "object", properties: {} },
    execute: () => "A",
  });
  const agent = new Agent({ initialState: { model, tools: [a] }, streamFn });
  await attachSession(agent, session);
  const schema = {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  } as const;
  setInterval(() => {}, 1000);
  await agent.prompt("Where?", { output: schema });
}

async function attempt(work: () => Promise<unknown>): Promise<string> {
  let outcome = "done";
  try {
    await work();
  } catch (error) {
    outcome = isBowlineError(error) ? `${error.code}: ${error.message}` : String(error);
  }
  say(outcome);
  return outcome;
}

async function idsOf(from: Store, id = "s"): Promise<string[]> {
  const session = await openSession(from, id, { readOnly: true });
  const ids: string[] = [];
  for await (const entry of session.entries()) ids.push(entry.id);
  if (session.damage.length > 0) throw new Error(JSON.stringify(session.damage));
  return ids;
}
