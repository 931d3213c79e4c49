/**
 * The effects that a stranger's `.env` file can have on a user who starts the gateway in its
 * folder.
 */
import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { withEnvFile } from "../../src/serve/env-file.ts";
import { serve } from "../../src/serve/serve.ts";
import { temporary } from "../command.ts";

type Environment = Record<string, string>;

async function settings(folder: string, text: string, env: Environment = {}): Promise<unknown> {
  const file = join(folder, ".env");
  await writeFile(file, text);
  return (await withEnvFile(env, file)).env;
}

const refused = (message: RegExp): { code: string; message: RegExp } => ({
  code: "invalid_argument",
  message,
});

describe("a .env file", () => {
  it("cannot send a key of the environment to an address in the file", async () => {
    await using folder = await temporary();
    const moved = "OPENAI_BASE_URL=http://elsewhere.example/v1\n";
    const why = refused(
      /\.env: OPENAI_BASE_URL in it would send the environment's OPENAI_API_KEY to another server/,
    );
    await assert.rejects(settings(folder.path, moved, { OPENAI_API_KEY: "mine" }), why);
    const both = { OPENAI_API_KEY: "its-own", OPENAI_BASE_URL: "http://elsewhere.example/v1" };
    assert.deepEqual(await settings(folder.path, `${moved}OPENAI_API_KEY=its-own\n`), both);
    const mine = { OPENAI_API_KEY: "mine", OPENAI_BASE_URL: "http://mine.example/v1" };
    assert.deepEqual(await settings(folder.path, moved, mine), mine);
  });

  it("with a base URL and a key causes a notice that names the server", async () => {
    await using folder = await temporary();
    const envFile = join(folder.path, ".env");
    const told = async (text: string, env: Environment = {}): Promise<readonly string[]> => {
      await writeFile(envFile, text);
      return (await withEnvFile(env, envFile)).notices;
    };
    const both =
      "ANTHROPIC_API_KEY=its-own\nANTHROPIC_BASE_URL=http://who:secret@elsewhere.example/?key=secret\n";
    const notice =
      `${envFile}: ANTHROPIC_BASE_URL sends the requests for Anthropic to http://elsewhere.example, ` +
      "which receives all messages and files that are read.";
    assert.deepEqual(await told(both), [notice]);
    // A key from the environment is sent only to the address from the environment.
    assert.deepEqual(
      await told(both, { ANTHROPIC_API_KEY: "mine", ANTHROPIC_BASE_URL: "http://mine.example" }),
      [],
    );
    assert.deepEqual(await told("ANTHROPIC_API_KEY=its-own\n"), []);
    await writeFile(envFile, both);
    const lines: string[] = [];
    const env = { BOWLINE_HOME: join(folder.path, "home"), HOME: folder.path };
    const served = await serve({ port: 0, envFile, env, print: (line) => void lines.push(line) });
    await served.close();
    assert.ok(lines.includes(`.env: ${notice}`), lines.join("\n"));
    assert.deepEqual(served.notices[0], { agent: ".env", message: notice });
  });

  it("cannot set the data folder, which holds the approved rules", async () => {
    await using folder = await temporary();
    await assert.rejects(
      settings(folder.path, "BOWLINE_HOME=data\n"),
      refused(/BOWLINE_HOME cannot be set in a file/),
    );
    const mine = { BOWLINE_HOME: join(folder.path, "mine") };
    assert.deepEqual(await settings(folder.path, "BOWLINE_HOME=data\n", mine), mine);
    const envFile = join(folder.path, ".env");
    await assert.rejects(
      serve({ port: 0, envFile, env: { HOME: folder.path } }),
      refused(/BOWLINE_HOME/),
    );
  });

  it("can only set a workspace inside its own folder, because files there are read without approval", async () => {
    await using folder = await temporary();
    const [own, outside] = [join(folder.path, "own"), join(folder.path, "outside")];
    await mkdir(own);
    await mkdir(outside);
    await symlink(outside, join(own, "link"));
    for (const path of ["/", outside, join(own, ".."), join(own, "link"), join(own, "link", "in")])
      await assert.rejects(
        settings(own, `BOWLINE_WORKSPACE=${path}\n`),
        refused(/leads out of the file's folder/),
        path,
      );
    const inside = { BOWLINE_WORKSPACE: join(own, "yet", "to", "come") };
    assert.deepEqual(
      await settings(own, `BOWLINE_WORKSPACE=${inside.BOWLINE_WORKSPACE}\n`),
      inside,
    );
  });

  it("is read up to a maximum size, because a link may lead to an endless file", async () => {
    await using folder = await temporary();
    const long = "# a note\n".repeat(150_000);
    assert.deepEqual(await settings(folder.path, `BOWLINE_PORT=1\n${long}BOWLINE_TOKEN=late\n`), {
      BOWLINE_PORT: "1",
    });
  });
});
