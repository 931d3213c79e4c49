/**
 * Ways in which a command may try to outlive its call. Every test is bounded: nothing here runs
 * endlessly.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { toTree } from "../../src/tools/command-tree.ts";
import { startGuard } from "../../src/tools/guard.ts";
import { runCommand, type CommandEnd } from "../../src/tools/run-command.ts";
import { asNobody } from "./as-nobody.ts";
import { createFolder, type Folder } from "./folder.ts";
import { endsWithin, guards, isLinux, isRunning, pidIn } from "./processes.ts";

const tools = new URL("../../src/tools/bash.ts", import.meta.url).href;

/**
 * Shell code that waits until the process is `sleep` and no longer the shell, or a program started
 * by the shell, before its exec.
 */
const untilAsleep = (pid: string): string =>
  `until read -r name < /proc/${pid}/comm && [ "$name" = sleep ]; do :; done`;

/** Waits for a command to write its process id to a file. */
async function pidFrom(folder: Folder, name: string): Promise<number> {
  for (let tries = 0; tries < 1000; tries++, await sleep(20)) {
    const pid = existsSync(folder.at(name)) ? pidIn(folder.get(name)) : Number.NaN;
    if (pid > 0) return pid;
  }
  throw new Error(`no process id in ${name}`);
}

/** Runs a program with a bash tool in a separate Node process, which ends by `end`. */
async function inOwnProcess(
  folder: Folder,
  command: string,
  then: string,
): Promise<readonly [number | null, string | null]> {
  const script = `
    import { createBashTool } from ${JSON.stringify(tools)};
    const tool = createBashTool(${JSON.stringify({ root: folder.root, outputFolder: folder.outputs })});
    const end = ({ content }) => process.stdout.write(content[0].text, () => { ${then} });
    void tool.execute("1", { command: ${JSON.stringify(command)} }, undefined, end);`;
  const args = ["--conditions=@bowline/source", "--input-type=module", "--eval", script];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "ignore"] });
  return (await once(child, "close")) as [number | null, string | null];
}

const skip = !isLinux && "only Linux shows whose a process is";

// The tests mostly wait, so they run concurrently.
describe("escapes from bash", { skip, concurrency: 4 }, () => {
  it("ends a background process left in the command's group, and reports it", async (t) => {
    const folder = createFolder(t);
    const { text, details, isError } = await folder.call("bash", {
      command: `sleep 60 > /dev/null & ${untilAsleep("$!")}; echo $!`,
    });
    const pid = pidIn(text);
    assert.equal(text, `${pid}\n[ended with the command: sleep (pid ${pid})]`);
    assert.deepEqual(details["ended"], [{ pid, name: "sleep" }]);
    assert.equal(isError, false);
    assert.ok(await endsWithin(pid, 20_000));
  });

  it("finds a grandchild that left the group by setsid by its environment mark, and ends it", async (t) => {
    const folder = createFolder(t);
    // Its parent has exited, its output is redirected, and it has closed the inherited descriptors.
    const command = `(setsid sleep 60 19>&- > /dev/null 2>&1 & echo $! > pid); ${untilAsleep("$(< pid)")}`;
    const { text } = await folder.call("bash", { command });
    const pid = await pidFrom(folder, "pid");
    assert.equal(text, `[no output]\n[ended with the command: sleep (pid ${pid})]`);
    assert.ok(await endsWithin(pid, 20_000));
  });

  it("finds a grandchild that also cleared its environment by an inherited descriptor, and ends it", async (t) => {
    const folder = createFolder(t);
    const { text } = await folder.call("bash", {
      command: `(env -i setsid sleep 60 > /dev/null 2>&1 & echo $! > pid); ${untilAsleep("$(< pid)")}`,
    });
    const pid = await pidFrom(folder, "pid");
    assert.equal(text, `[no output]\n[ended with the command: sleep (pid ${pid})]`);
    assert.ok(await endsWithin(pid, 20_000));
  });

  it("does not find a process that left the group, cleared its environment and closed every descriptor", async (t) => {
    const folder = createFolder(t);
    const command = `(env -i setsid sleep 60 19>&- > /dev/null 2>&1 & echo $! > pid); ${untilAsleep("$(< pid)")}`;
    const { text } = await folder.call("bash", { command });
    const pid = await pidFrom(folder, "pid");
    assert.equal(text, "[no output]");
    assert.ok(
      isRunning(pid),
      "if it can be found now, the table in docs/security.md has to say so",
    );
    process.kill(pid, "SIGKILL");
  });

  it("kills grandchildren in other groups on abort, also when they ignore SIGTERM", async (t) => {
    const folder = createFolder(t);
    const controller = new AbortController();
    const deaf = `setsid bash -c 'trap "" TERM; echo $$ > deaf; while :; do sleep 0.1; done' > /dev/null 2>&1 &`;
    const command = `${deaf} setsid sleep 60 & echo $! > pid; wait`;
    const call = folder.call("bash", { command }, { signal: controller.signal });
    const pids = [await pidFrom(folder, "pid"), await pidFrom(folder, "deaf")];
    controller.abort(new Error("enough"));
    assert.match(
      (await call).text,
      /^Error: The command was stopped after [\d.]+ s \(enough\); it had printed nothing$/,
    );
    for (const pid of pids) assert.ok(await endsWithin(pid, 20_000), `${pid}`);
  });

  it("stops a fork loop inside the group", async (t) => {
    const folder = createFolder(t);
    // 127 shells, each of which starts two more and then sleeps.
    const command =
      "f() { if (( $1 > 0 )); then f $(($1 - 1)) & f $(($1 - 1)) & fi; echo $BASHPID >> pids; sleep 60; }; f 6";
    const controller = new AbortController();
    const call = folder.call("bash", { command }, { signal: controller.signal });
    const pids = (): string[] =>
      existsSync(folder.at("pids")) ? (folder.get("pids").match(/.+(?=\n)/g) ?? []) : [];
    while (pids().length <= 30) await sleep(20);
    controller.abort(new Error("enough"));
    assert.match(
      (await call).text,
      /^Error: The command was stopped after [\d.]+ s \(enough\); it had printed nothing$/,
    );
    for (const pid of pids()) assert.ok(await endsWithin(Number(pid), 20_000), pid);
  });

  it("stops a fork chain that leaves its group at every step", async (t) => {
    const script =
      'if [ $N -gt 0 ]; then export N=$((N-1)); echo $N >> steps; setsid bash -c "$SCRIPT" > /dev/null 2>&1 & fi';
    const folder = createFolder(t, { env: { PATH: process.env["PATH"], SCRIPT: script } });
    // 5000 steps take several seconds.
    const { text } = await folder.call("bash", { command: 'N=5000 bash -c "$SCRIPT"; sleep 0.2' });
    assert.match(
      text,
      /^\[no output\]\n\[(?:ended with the command|still running, could not be found): /,
    );
    let steps = "";
    for (let tries = 0; tries < 100 && steps !== folder.get("steps"); tries++) {
      steps = folder.get("steps");
      await sleep(100);
    }
    assert.ok(
      steps.length > 0 && !steps.endsWith("\n0\n"),
      "it ran out of steps before it was stopped",
    );
  });

  it("reports that something was left running on systems that do not show process ownership", async (t) => {
    const folder = createFolder(t);
    const run = (command: string): Promise<CommandEnd> =>
      runCommand({
        shell: "/bin/bash",
        command,
        cwd: folder.root,
        env: { PATH: process.env["PATH"] ?? "" },
        timeoutMs: 5_000,
        maxOutput: 1e6,
        signal: new AbortController().signal,
        onOutput: () => {},
        platform: "darwin",
      });
    assert.equal((await run("sleep 0.01")).isLost, false);
    const grouped = await run("sleep 60 > /dev/null 2>&1 & echo $! > pid");
    assert.deepEqual(
      [grouped.ended.map(({ name }) => name), grouped.isLost],
      [["its process group"], false],
    );
    assert.ok(await endsWithin(pidIn(folder.get("pid")), 20_000));
    // The command must not end before its child has left the process group.
    const hasLeft = `until [ "$(ps -o pgid= -p $! | tr -d ' ')" = "$!" ]; do sleep 0.01; done`;
    const lost = await run(`setsid sleep 60 > /dev/null 2>&1 & echo $! > pid; ${hasLeft}`);
    assert.deepEqual([lost.ended, lost.left, lost.isLost], [[], [], true]);
    process.kill(pidIn(folder.get("pid")), "SIGKILL");
  });

  it("sends SIGTERM once before a process is killed", async (t) => {
    const folder = createFolder(t);
    const command =
      "trap 'echo asked >> asked' TERM; echo $$ > pid; for i in $(seq 20); do sleep 0.1; done";
    const controller = new AbortController();
    const call = folder.call("bash", { command }, { signal: controller.signal });
    await pidFrom(folder, "pid");
    controller.abort(new Error("enough"));
    await call;
    assert.equal(folder.get("asked"), "asked\n");
  });

  it("leaves no process in any group when its own process ends by SIGINT or SIGKILL", async (t) => {
    const folder = createFolder(t);
    // Each process can be found in one way only: by its mark, its descriptor or its group.
    folder.put("stay.sh", "trap '' TERM INT; echo $$ > $1; sleep 60; :");
    const others =
      "setsid bash stay.sh marked 19>&- & env -i PATH=$PATH setsid bash stay.sh leashed & env -i PATH=$PATH bash stay.sh grouped 19>&- &";
    const names = ["leader", "marked", "leashed", "grouped"];
    for (const signal of ["SIGINT", "SIGKILL"]) {
      for (const name of names) rmSync(folder.at(name), { force: true });
      const command = `trap '' TERM; echo $$ > leader; ${others} until [ -s marked ] && [ -s leashed ] && [ -s grouped ]; do sleep 0.05; done; echo; wait`;
      const ended = await inOwnProcess(folder, command, `process.kill(process.pid, "${signal}")`);
      assert.deepEqual(ended, [null, signal]);
      for (const name of names)
        assert.ok(await endsWithin(await pidFrom(folder, name), 20_000), `${signal} ${name}`);
    }
  });

  it("rejects marks and process ids that could match processes of others", () => {
    const mark = randomUUID();
    for (const other of [
      "",
      "x",
      "BOWLINE",
      mark.slice(1),
      `${mark} `,
      mark.replaceAll(/[\da-f]/g, "."),
    ]) {
      assert.throws(() => startGuard(other, "linux"), /UUID/);
      assert.throws(() => toTree(12_345, other, "linux"), /UUID/);
    }
    for (const pid of [-1, 0, 1, Number.NaN, process.pid])
      assert.throws(() => toTree(pid, mark, "linux"), /its own/);
  });

  it("passes on the marks of all enclosing commands", async (t) => {
    const folder = createFolder(t, {
      env: { PATH: process.env["PATH"], BOWLINE_COMMAND: "outer" },
    });
    assert.match(
      (await folder.call("bash", { command: "echo $BOWLINE_COMMAND" })).text,
      /^outer [\da-f-]{36}\n$/,
    );
  });
});

// These tests inspect or change the whole process.
describe("escapes from bash, one by one", { skip }, () => {
  it("reports processes that it has no permission to end", async (t) => {
    if (process.getuid?.() !== 0) return t.skip("only root can start a process as somebody else");
    const folder = createFolder(t);
    // This process drops root, so it cannot end what the command runs as user 1.
    const command = `setpriv --reuid=1 --clear-groups sleep 60 > /dev/null 2>&1 & ${untilAsleep("$!")}; echo $!`;
    const said = await asNobody(folder, () => folder.call("bash", { command }));
    const pid = pidIn(said.text);
    assert.equal(said.text, `${pid}\n[still running, could not be ended: sleep (pid ${pid})]`);
    assert.deepEqual(said.details["leftRunning"], [{ pid, name: "sleep" }]);
    process.kill(pid, "SIGKILL");
  });

  it("ends its guard process with the command", async (t) => {
    const folder = createFolder(t);
    const over = async (): Promise<void> => {
      for (let tries = 0; tries < 1000 && guards().length > 0; tries++) await sleep(20);
      assert.deepEqual(guards(), []);
    };
    await over();
    const call = folder.call("bash", {
      command: "until [ -e over ]; do sleep 0.02; done; sleep 60 > /dev/null &",
    });
    while (guards().length === 0) await sleep(20);
    assert.equal(guards().length, 1);
    folder.put("over", "");
    await call;
    await over();
  });
});
