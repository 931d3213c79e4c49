/**
 * docs/sessions.md quotes two examples, which print what it says, and a file as the store writes
 * it.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { it } from "node:test";
import { promisify } from "node:util";
import { requireApproval } from "../../src/agent/index.ts";
import {
  attachSession,
  createMemoryStore,
  createSession,
  openSession,
} from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { temporaryFolder } from "./support.ts";
import { call, rig, tool } from "../support.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { texts } from "../../../../test/support/message-texts.ts";

const root = join(import.meta.dirname, "../../../..");
const page = await readFile(join(root, "docs/sessions.md"), "utf8");
const block = (language: string): string | undefined =>
  new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s").exec(page)?.[1];
const printedBy = (source: string): string | undefined =>
  /\/\* Prints:\n(.*)\*\//s.exec(source)?.[1];

async function run(example: string): Promise<{ source: string; stdout: string }> {
  const source = await readFile(join(root, example), "utf8");
  const options = ["--conditions=@bowline/source", example];
  const { stdout } = await promisify(execFile)(process.execPath, options, { cwd: root });
  return { source, stdout };
}

it("the page about sessions quotes examples/10-sessions.ts, which prints what the page says", async () => {
  const { source, stdout } = await run("examples/10-sessions.ts");
  assert.equal(block("ts"), source);
  assert.equal(stdout, printedBy(source));
});

it("the page about files quotes examples/21-files.ts, which prints what the page says", async () => {
  const { source, stdout } = await run("examples/21-files.ts");
  assert.equal(stdout, printedBy(source));
});

it("the page about sessions describes what examples/11-killed-agent.ts does when it is killed", async () => {
  const { source, stdout } = await run("examples/11-killed-agent.ts");
  assert.equal(stdout, printedBy(source));
  assert.equal(stdout, block("text"));
});

it("the page about sessions shows a session file as it is written", async () => {
  await using folder = await temporaryFolder();
  const clock = { now: () => 1_795_300_000_000, setTimer: () => () => {} };
  let count = 0;
  const options = { id: "trip", clock, createId: () => `e${count++}` };
  const session = await createSession(createJsonlStore(folder.path), options);
  const { agent } = rig(["It rains."], [], { clock, createId: () => "run1" });
  await attachSession(agent, session);
  await agent.prompt("Umbrella?");
  await session.close();
  assert.equal(await readFile(join(folder.path, "trip.jsonl"), "utf8"), block("jsonl"));
});

it("the page about sessions shows how one process leaves an approval open and another answers it", async () => {
  const store = createMemoryStore();
  const askFirst = { beforeToolCall: requireApproval() };
  const first = rig([call("pay")], [tool("pay", () => "Paid.")], askFirst);
  const session = await createSession(store, { id: "bill" });
  const attached = await attachSession(first.agent, session);
  const asked = deferred<string>();
  first.agent.subscribe(
    (event) => void (event.type === "approval_request" && asked.resolve(event.approvalId)),
  );
  const prompted = first.agent.prompt("Pay the bill.");
  const approvalId = await asked.promise;
  attached.detach();
  first.agent.abort();
  assert.equal((await prompted).reason, "aborted");
  await session.close();

  const next = rig(["It is paid."], [tool("pay", () => "Paid.")], askFirst);
  next.agent.subscribe((event) => {
    if (event.type !== "approval_request") return;
    assert.equal(event.approvalId, approvalId);
    next.agent.answer(approvalId, { decision: "allow" });
  });
  await using resumed = await openSession(store, "bill");
  const result = await (await attachSession(next.agent, resumed)).resume();
  assert.deepEqual(
    [result?.reason, texts(result?.messages ?? [])],
    ["done", ["toolResult: Paid.", "assistant: It is paid."]],
  );
});
