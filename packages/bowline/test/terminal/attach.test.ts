/** A mentioned file and the note about plan mode, from the keyboard to the request and the session. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { bowline } from "../command.ts";
import { converse } from "./conversation.ts";
import { missingTmux, openTmux, type Tmux } from "./tmux.ts";

const NOTE = "[Plan mode is on";
const labels = ["the file notes.txt (2 lines, 17 B)", "a note for the model: plan mode is on"];

async function prepare(folder: string): Promise<void> {
  const data = join(folder, "../data");
  await mkdir(data, { recursive: true });
  await mkdir(join(folder, "keys"));
  await writeFile(join(folder, "notes.txt"), "one rose\ntwo oak\n");
  await writeFile(join(folder, "keys/a.txt"), "a denied line");
  const permissions = { deny: ["read(keys/**)"] };
  await writeFile(join(data, "bowline.json"), JSON.stringify({ permissions }));
}

/** Asserts that a text has what was typed and the labels, and nothing of what they stand for. */
function assertShown(text: string): void {
  assert.match(text, /sum up @notes\.txt and @keys\/a\.txt now/);
  for (const label of labels) assert.ok(text.includes(label), `${label}\n${text}`);
  assert.ok(!text.includes("two oak") && !text.includes(NOTE), text);
}

describe("a message with a file, in plan mode", { skip: missingTmux ?? false }, () => {
  let tmux: Tmux;
  before(async () => void (tmux = await openTmux()));
  after(() => tmux[Symbol.asyncDispose]());

  it("is shown as it was typed, live, resumed and in `bowline sessions`", async () => {
    await using chat = await converse(tmux, () => "An answer.", { prepare, columns: 100 });
    await chat.window.press("BTab");
    await chat.window.until(/plan/);
    await chat.say("sum up @notes.txt and @keys/a.txt now");
    await chat.window.until("An answer.");
    const request = JSON.stringify((await chat.request(0)).body);
    assert.ok(request.includes("two oak") && request.includes(NOTE), request);
    assert.ok(!request.includes("a denied line") && !request.includes("shown"), request);
    const live = await chat.window.history();
    assertShown(live);
    assert.match(live, /@keys\/a\.txt is not attached: .*denies it/s);
    process.kill(await chat.window.pid(), "SIGKILL");
    await chat.window.exit();

    await using again = await converse(tmux, () => "More.", {
      after: chat,
      args: ["--continue"],
      columns: 100,
    });
    await again.window.until("goes on here");
    assertShown(await again.window.history());

    const env = { BOWLINE_HOME: chat.data };
    const { stdout: list } = await bowline(["sessions", "list", "--all", "--json"], { env });
    const { id, title } = JSON.parse(list) as { id: string; title: string };
    assert.equal(title, "sum up @notes.txt and @keys/a.txt now");
    for (const action of ["show", "replay"]) {
      const { stdout, stderr } = await bowline(["sessions", action, id], { env });
      assert.notEqual(stdout, "", stderr);
      assertShown(stdout);
    }
  });
});
