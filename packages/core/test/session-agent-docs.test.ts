/** docs/sessions.md shows two examples, which print what they say, and a file as the store writes it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { it } from "node:test";
import { promisify } from "node:util";
import { attachSession, createSession } from "../src/session/index.ts";
import { createJsonlStore } from "../src/session/node/index.ts";
import { temporaryFolder } from "./session-support.ts";
import { rig } from "./support.ts";

const root = join(import.meta.dirname, "../../..");
const page = await readFile(join(root, "docs/sessions.md"), "utf8");
const block = (language: string): string | undefined =>
  new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s").exec(page)?.[1];
const printedBy = (source: string): string | undefined => /\/\* Prints:\n(.*)\*\//s.exec(source)?.[1];

async function run(example: string): Promise<{ source: string; stdout: string }> {
  const source = await readFile(join(root, example), "utf8");
  const options = ["--conditions=@bowline/source", example];
  const { stdout } = await promisify(execFile)(process.execPath, options, { cwd: root });
  return { source, stdout };
}

it("the page about sessions shows examples/10-sessions.ts, which prints what it says", async () => {
  const { source, stdout } = await run("examples/10-sessions.ts");
  assert.equal(block("ts"), source);
  assert.equal(stdout, printedBy(source));
});

it("the page about sessions shows what examples/11-killed-agent.ts does when it is killed", async () => {
  const { source, stdout } = await run("examples/11-killed-agent.ts");
  assert.equal(stdout, printedBy(source));
  assert.equal(stdout, block("text"));
});

it("the page about sessions shows a file as it is written", async () => {
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
