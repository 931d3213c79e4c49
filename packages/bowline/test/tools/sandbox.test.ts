/** bash in bubblewrap. Skipped with a message where bubblewrap is missing or not allowed. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createBashTool } from "../../src/tools/bash.ts";
import { openSandbox, sandboxStatus, type Sandbox } from "../../src/tools/sandbox.ts";
import { temporary } from "../command.ts";

const found = await openSandbox({ choice: "auto", root: import.meta.dirname });
const skip = found.kind === "bubblewrap" ? false : sandboxStatus(found);

interface Result {
  readonly text: string;
  readonly isError: boolean;
}

async function run(
  root: string,
  command: string,
  sandbox: Sandbox = found,
  signal?: AbortSignal,
): Promise<Result> {
  const tool = createBashTool({ root, sandbox });
  try {
    const { content = [], isError = false } = await tool.execute("1", { command }, signal);
    return { text: content.map((part) => ("text" in part ? part.text : "")).join(""), isError };
  } catch (error) {
    return { text: (error as Error).message, isError: true };
  }
}

/** A number of seconds that no other process sleeps for. */
const rareSeconds = (): string => `${1000 + randomInt(9000)}.${randomInt(1e9)}`;

function isSleeping(seconds: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      return (
        /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8") === `sleep\0${seconds}\0`
      );
    } catch {
      return false;
    }
  });
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 3000; tries++, await sleep(20)) if (condition()) return;
  throw new Error("the condition was not met within 60 s");
}

describe("bash in a sandbox", { skip, concurrency: 4 }, () => {
  it("changes files in the working directory only, and has an empty /tmp", async () => {
    await using folder = await temporary();
    const outside = `${folder.path}-outside`;
    const command = `echo hi > in.txt; echo no > ${outside}; echo no > /usr/x; ls -A /tmp | grep -cv bowline-test; grep CapEff /proc/self/status`;
    const { text } = await run(folder.path, command);
    assert.equal(readFileSync(join(folder.path, "in.txt"), "utf8"), "hi\n");
    assert.match(text, /\/usr\/x: Read-only file system/);
    assert.match(text, /^0$/m);
    assert.match(text, /^CapEff:\s+0+$/m);
    assert.equal(existsSync(outside), false);
    assert.equal(existsSync("/usr/x"), false);
  });

  it("cannot change files that take effect outside, such as hooks", async () => {
    await using folder = await temporary();
    mkdirSync(join(folder.path, ".git/hooks"), { recursive: true });
    for (const file of [".git/config", "bowline.json"])
      writeFileSync(join(folder.path, file), "{}");
    const command =
      "echo x > .git/hooks/pre-commit; echo x > .git/config; echo x > bowline.json; rm -f bowline.json";
    const { text } = await run(folder.path, command);
    assert.equal(text.match(/Read-only file system|busy/g)?.length, 4, text);
    assert.equal(readFileSync(join(folder.path, "bowline.json"), "utf8"), "{}");
  });

  it("cannot replace git's settings by moving their folder, or by naming others", async () => {
    await using folder = await temporary();
    const git = join(folder.path, ".git");
    mkdirSync(git);
    writeFileSync(join(git, "config"), "[core]\n");
    const command =
      "mv .git moved; echo x > .git/hooks/pre-commit; mkdir -p .git/modules/a; mv .git/config .git/c; echo ../evil > .git/commondir; echo ok";
    const { text, isError } = await run(folder.path, command);
    assert.match(text, /cannot move '\.git' to 'moved': Device or resource busy/);
    assert.match(text, /hooks\/pre-commit: Read-only file system/);
    assert.match(text, /^ok\n\[renamed to \.git\/commondir\.refused: /m);
    assert.equal(isError, false);
    assert.deepEqual(readdirSync(git).toSorted(), [
      "commondir.refused",
      "config",
      "hooks",
      "modules",
    ]);
    assert.match((await run(folder.path, "echo x > .git/modules/a/config")).text, /Read-only/);
    const linked = join(folder.path, "linked");
    mkdirSync(linked);
    writeFileSync(join(linked, ".git"), "gitdir: ../.git/worktrees/linked\n");
    assert.match((await run(linked, "echo gitdir: x > .git")).text, /Read-only file system/);
  });

  it("cannot change the folders that are read-only, also by moving one above them", async () => {
    await using folder = await temporary();
    const own = join(folder.path, "a/b/own");
    const open = { choice: "auto", root: folder.path, readOnly: [own, "/elsewhere"] } as const;
    const sandbox = await openSandbox(open);
    const command =
      "echo x > a/b/own/trust.json; mv a c; mv a/b a/c; mv a/b/own d; rmdir a/b/own; ls";
    const { text } = await run(folder.path, command, sandbox);
    assert.equal(text.match(/Read-only file system|busy/g)?.length, 5, text);
    assert.match(text, /^a$/m);
    const none = await openSandbox({ ...open, readOnly: [folder.path] });
    assert.equal(sandboxStatus(none), "sandbox: none (the working directory may not be changed)");
  });

  it("reaches no socket of a service, and has no descriptor that this process inherited", async () => {
    await using folder = await temporary();
    const path = join(folder.path, "agent.sock");
    const server = createServer((socket) => socket.end("reached")).listen(path);
    await once(server, "listening");
    const connect = `require("node:net").connect("agent.sock").on("data", (data) => console.log(String(data))).on("error", (error) => console.log(error.code))`;
    // Node's own path may be in a folder that the sandbox hides.
    copyFileSync(process.execPath, join(folder.path, "node"), constants.COPYFILE_FICLONE);
    const { text } = await run(folder.path, `./node -e '${connect}'`);
    server.close();
    assert.match(text, /^E[A-Z]+$/m);
    const script = `
      import { createBashTool } from ${JSON.stringify(new URL("../../src/tools/bash.ts", import.meta.url).href)};
      const tool = createBashTool(${JSON.stringify({ root: folder.path, sandbox: found })});
      const { content } = await tool.execute("1", { command: "ls /proc/self/fd; echo error >&2" });
      console.log(content[0].text);`;
    const args = ["--conditions=@bowline/source", "--input-type=module", "--eval", script];
    const child = spawn("bash", [
      "-c",
      'exec 30< /etc && exec "$@"',
      "bash",
      process.execPath,
      ...args,
    ]);
    const shown = (await child.stdout.toArray()).join("");
    assert.match(shown, /^error$/m);
    assert.doesNotMatch(shown, /^30$/m);
  });

  it("reaches no server on this machine, and sees only its own processes", async () => {
    await using folder = await temporary();
    const server = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const { text } = await run(
      folder.path,
      `cat < /dev/tcp/127.0.0.1/${port}; ls /proc | grep -c '^[0-9]'`,
    );
    server.close();
    assert.doesNotMatch(text, /reached/);
    assert.ok(Number(/^\d+$/m.exec(text)?.[0]) < 10, text);
  });

  it("keeps the exit code and both outputs in order", async () => {
    await using folder = await temporary();
    const { text, isError } = await run(folder.path, "echo a; echo b >&2; echo c; exit 7");
    assert.deepEqual([text, isError], ["a\nb\nc\n[exit code 7]", true]);
  });

  it("ends with everything that it started: at its exit and at an abort", async () => {
    await using folder = await temporary();
    const seconds = rareSeconds();
    await run(folder.path, `setsid sleep ${seconds} > /dev/null 2>&1 & sleep 0.2`);
    await until(() => !isSleeping(seconds));
    const other = rareSeconds();
    const abort = new AbortController();
    const running = run(
      folder.path,
      `(trap '' TERM; setsid sleep ${other}) & sleep ${other}`,
      found,
      abort.signal,
    );
    await until(() => isSleeping(other));
    const begun = performance.now();
    abort.abort();
    assert.match((await running).text, /stopped after/);
    assert.ok(performance.now() - begun < 30_000);
    await until(() => !isSleeping(other));
  });

  it("ends when this process is killed", async () => {
    await using folder = await temporary();
    const seconds = rareSeconds();
    const script = `
      import { createBashTool } from ${JSON.stringify(new URL("../../src/tools/bash.ts", import.meta.url).href)};
      const tool = createBashTool(${JSON.stringify({ root: folder.path, sandbox: found })});
      void tool.execute("1", { command: "setsid sleep ${seconds} & sleep ${seconds}" });`;
    const args = ["--conditions=@bowline/source", "--input-type=module", "--eval", script];
    const child = spawn(process.execPath, args, { stdio: "ignore" });
    await until(() => isSleeping(seconds));
    child.kill("SIGKILL");
    await until(() => !isSleeping(seconds));
  });
});

describe("a missing sandbox", () => {
  it("is reported, and refuses commands only if one is required", async () => {
    await using folder = await temporary();
    const open = { root: folder.path, folders: [folder.path] };
    assert.equal(sandboxStatus(await openSandbox({ ...open, choice: "off" })), "sandbox: off");
    const auto = await openSandbox({ ...open, choice: "auto", platform: "linux" });
    assert.equal(sandboxStatus(auto), "sandbox: none (bubblewrap is not installed)");
    assert.equal((await run(folder.path, "echo hi", auto)).text, "hi\n");
    const required = await openSandbox({ ...open, choice: "required", platform: "linux" });
    const refused = await run(folder.path, "echo hi > file", required);
    assert.match(refused.text, /require a sandbox, and bubblewrap is not installed/);
    assert.equal(existsSync(join(folder.path, "file")), false);
    const mac = await openSandbox({ ...open, choice: "auto", platform: "darwin" });
    assert.equal(sandboxStatus(mac), "sandbox: none (there is none for darwin)");
  });

  it("names the first line of bubblewrap's own error", async () => {
    await using folder = await temporary();
    const program = join(folder.path, "bwrap");
    writeFileSync(
      program,
      "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
    );
    chmodSync(program, 0o755);
    const open = { root: folder.path, folders: [folder.path], platform: "linux" } as const;
    assert.equal(
      sandboxStatus(await openSandbox({ ...open, choice: "auto" })),
      "sandbox: none (bubblewrap does not work here: bwrap: No permissions to create new namespace)",
    );
  });
});
