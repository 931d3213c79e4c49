/**
 * A process with bad storage: `storage-child.ts <fill|readOnly> <folder>`. Writes a line of JSON
 * that says how its agent ended.
 */
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isBowlineError } from "../../src/errors.ts";
import {
  attachSession,
  createSession,
  openSession,
  resumeSession,
} from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { scriptedToolCall, type ScriptedStep } from "../../src/testing/index.ts";
import { rig, tool } from "../support.ts";
import { texts } from "../../../../test/support/message-texts.ts";
import type { AgentMessage } from "../../src/agent/index.ts";

const [task, folder = ""] = process.argv.slice(2);
const store = createJsonlStore(folder);
console.log(JSON.stringify(await (task === "fill" ? fill() : readOnly())));

/** In a small folder: works until it is full, makes room, and continues with a new agent. */
async function fill(): Promise<unknown> {
  const ballast = join(folder, "ballast");
  writeFileSync(ballast, Buffer.alloc(64 * 1024));
  const ran: string[] = [];
  const big = tool("big", () => "x".repeat(9000));
  big.execute = (id) => {
    ran.push(id);
    return { content: [{ type: "text", text: "x".repeat(9000) }] };
  };
  let asked = 0;
  const step: ScriptedStep = () =>
    ++asked > 25 ? "Done." : { content: [scriptedToolCall("big", {}, `call_${asked}`)] };
  const steps = Array.from({ length: 30 }, () => step);
  const first = rig(steps, [big]);
  const session = await createSession(store, { id: "s" });
  await attachSession(first.agent, session);
  const failed = await first.agent.prompt("Go");
  const kept = texts((await session.allMessages()) as AgentMessage[]).length;
  await session.close();
  const askedBefore = asked;
  const before = ran.length;
  truncateSync(ballast, 0);
  asked = 22; // the rest fits into the room that was made
  const second = rig(steps, [big]);
  const { result, session: again } = await resumeSession(store, "s", second.agent);
  await again.close();
  const shown = texts((await again.allMessages()) as AgentMessage[]);
  const unknown = shown.filter((text) => text.includes("It is not known")).length;
  const { code, retryable } = failed.error ?? {};
  const damage = again.damage.map(({ message }) => message);
  return {
    code,
    retryable,
    kept,
    askedBefore,
    before,
    reason: result?.reason,
    unknown,
    damage,
    messages: shown.length,
  };
}

/** In a read-only folder. */
async function readOnly(): Promise<unknown> {
  const { agent, script } = rig(["never"]);
  const refused = await resumeSession(store, "s", agent).then(
    () => "nothing",
    (error: unknown) => (isBowlineError(error) ? error.code : String(error)),
  );
  const reader = await openSession(store, "s", { readOnly: true });
  return { refused, calls: script.calls.length, messages: (await reader.allMessages()).length };
}
