import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { describe, it } from "node:test";
import { vendors } from "@bowline/core";
import { runCommand } from "../../src/tools/run-command.ts";
import { createFolder, type Folder, type Outcome } from "./folder.ts";
import { endsWithin, isLinux, isRunning, pidIn } from "./processes.ts";

describe("bash", () => {
  it("runs in the working directory and returns the output", async (t) => {
    const folder = createFolder(t);
    const { text, isError, details } = await folder.call("bash", {
      command: "pwd; [[ -n $BASH_VERSION ]] && echo bash",
    });
    assert.equal(text, `${folder.root}\nbash\n`);
    assert.equal(isError, false);
    assert.deepEqual(
      { ...details, durationMs: typeof details["durationMs"] },
      {
        exitCode: 0,
        durationMs: "number",
        truncated: false,
      },
    );
  });

  it("says in its description that it is not confined to the working directory", async (t) => {
    const folder = createFolder(t);
    assert.equal((await folder.call("bash", { command: "cd ..; ls" })).text, "outside\nroot\n");
  });

  it("merges standard output and standard error in order", async (t) => {
    const folder = createFolder(t);
    const command = "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done";
    const { text } = await folder.call("bash", { command });
    assert.equal(text, [1, 2, 3, 4, 5].map((i) => `out ${i}\nerr ${i}\n`).join(""));
    assert.match(
      (await folder.call("bash", { command: "if (" })).text,
      /syntax error[^]*\n\[exit code 2\]$/,
    );
  });

  it("says when there was no output", async (t) => {
    const folder = createFolder(t);
    assert.equal((await folder.call("bash", { command: "true" })).text, "[no output]");
  });

  it("ends the text of a failure with the exit code or the signal", async (t) => {
    const folder = createFolder(t);
    const say = async (command: string): Promise<readonly unknown[]> => {
      const { text, isError, thrown, details } = await folder.call("bash", { command });
      return [text, isError, thrown, details["exitCode"]];
    };
    assert.deepEqual(await say("echo a; exit 2"), ["a\n[exit code 2]", true, false, 2]);
    assert.deepEqual(await say("printf a; exit 2"), ["a\n[exit code 2]", true, false, 2]);
    assert.deepEqual(await say("exit 1"), ["[no output]\n[exit code 1]", true, false, 1]);
    assert.deepEqual(await say("kill -TERM $$"), [
      "[no output]\n[killed by SIGTERM]",
      true,
      false,
      null,
    ]);
    assert.deepEqual((await say("no-such-command-xyz")).slice(1), [true, false, 127]);
    assert.deepEqual((await say("-x"))[3], 127);
  });

  it("gives the command an empty standard input", async (t) => {
    const folder = createFolder(t);
    assert.equal(
      (await folder.call("bash", { command: "cat; read line || echo none" })).text,
      "none\n",
    );
  });

  it("streams the output so far a few times a second", async (t) => {
    const folder = createFolder(t);
    const updates: string[] = [];
    const onUpdate = (update: string): void => {
      if (updates.push(update) === 1) folder.put("seen", "");
    };
    const command =
      "echo 1; until [ -e seen ]; do sleep 0.02; done; for i in 2 3 4 5 6 7 8; do echo $i; sleep 0.05; done";
    const started = performance.now();
    const { text } = await folder.call("bash", { command }, { onUpdate });
    const intervals = (performance.now() - started) / 100;
    assert.equal(updates.at(-1), text);
    assert.ok(
      updates.every((update, index) => index === 0 || update.startsWith(`${updates[index - 1]}`)),
    );
    assert.ok(
      updates.length >= 2 && updates.length <= intervals + 2,
      `${updates.length} updates in ${intervals} intervals`,
    );
  });

  it("streams output without half characters, and with control characters escaped", async (t) => {
    const folder = createFolder(t);
    const updates: string[] = [];
    // 8,402 characters, of which the last 4,000 begin in the middle of a surrogate pair.
    folder.put("a.txt", `x${"🎉".repeat(4200)}\0`);
    await folder.call(
      "bash",
      { command: "cat a.txt" },
      { onUpdate: (update) => void updates.push(update) },
    );
    assert.deepEqual(updates, [`[…]\n${"🎉".repeat(1999)}\\x00`]);
  });

  it("keeps head and tail of long output, and stores all of it in a private file", async (t) => {
    const folder = createFolder(t);
    const { text, details } = await folder.call("bash", { command: "seq 1 100000" });
    const path = details["fullOutputPath"] as string;
    const full = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join("");
    assert.ok(path.startsWith(`${folder.outputs}/bowline-output-`));
    assert.equal(readFileSync(path, "utf8"), full);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(details["truncated"], true);
    const gap = `[${full.length - 30_000} characters left out here; the full output is in ${path}]`;
    const head = full.slice(0, 15_000);
    assert.equal(text, `${head}${head.endsWith("\n") ? "" : "\n"}${gap}\n${full.slice(-15_000)}`);
  });

  it("returns output of exactly the limit whole, without a file", async (t) => {
    const folder = createFolder(t);
    const { text, details } = await folder.call("bash", {
      command: "head -c 30000 /dev/zero | tr '\\0' x",
    });
    assert.equal(text, "x".repeat(30_000));
    assert.equal(details["fullOutputPath"], undefined);
  });

  it("uses little memory under a flood of output", async (t) => {
    const folder = createFolder(t);
    const before = process.memoryUsage().rss;
    const { details, text } = await folder.call("bash", { command: "yes | head -c 200000000" });
    const path = details["fullOutputPath"] as string;
    assert.ok(text.length < 31_000);
    assert.match(text, /\[199970000 characters left out here; its first 100000000 bytes are in /);
    assert.equal(statSync(path).size, 100_000_000);
    const grown = process.memoryUsage().rss - before;
    assert.ok(grown < 150 * 2 ** 20, `grew by ${grown} bytes`);
  });

  it("decodes characters split between two writes", async (t) => {
    const folder = createFolder(t);
    const command = String.raw`printf '\xc3'; sleep 0.05; printf '\xa9\xff'`;
    assert.equal((await folder.call("bash", { command })).text, "é\uFFFD");
  });

  it("does not start when the call is already aborted", async (t) => {
    const folder = createFolder(t);
    const { text } = await folder.call(
      "bash",
      { command: "touch a" },
      { signal: AbortSignal.abort() },
    );
    assert.match(text, /^Error: Stopped: /);
    assert.equal(existsSync(folder.at("a")), false);
  });

  it("reads what a background process prints just after the command has ended", async (t) => {
    const folder = createFolder(t);
    assert.equal(
      (await folder.call("bash", { command: "(sleep 0.05; echo late) & echo first" })).text,
      "first\nlate\n",
    );
  });

  it("keeps secrets out of the environment", async (t) => {
    const kept = {
      HOME: "/home/x",
      LANG: "C.UTF-8",
      KEYBOARD: "us",
      TOKENIZER: "bpe",
      GIT_AUTHOR_NAME: "x",
      MAX_TOKENS: "1",
      OLDPWD: "/",
      PASSWORD_FILE: "/run/secrets/password",
      API_URL: "https://api.example",
      GIT_REMOTE: "ssh://git@github.com/x",
      HTTP_PROXY: "http://proxy:3128",
    };
    const secret = {
      MY_API_KEY: "1",
      mysecret: "1",
      GITHUB_TOKEN: "1",
      PGPASSWORD: "1",
      DB_PASSWD: "1",
      GOOGLE_APPLICATION_CREDENTIALS: "1",
      X_CREDENTIAL: "1",
      "npm_config_//registry.npmjs.org/:_authToken": "1",
      AWS_ACCESS_KEY_ID: "1",
      ANTHROPIC_BASE_URL: "1",
      OPENAI_ORG: "1",
      SIGNING_KEYS: "1",
      GPG_PASSPHRASE: "1",
      DB_PASS: "1",
      DB_PWD: "1",
      GITHUB_PAT: "1",
      MY_API_KEY_2: "1",
      DEPLOY_TOKEN1: "1",
      DATABASE_URL: "postgres://localhost/app",
      REDIS_CACHE_URL: "1",
      SECRET_KEY_BASE: "1",
      VAULT_SECRET_ID: "1",
      API_TOKENS: "1",
      API_KEY_PROD: "1",
      JWT: "1",
      SLACK_WEBHOOK_URL: "1",
      SENTRY_DSN: "1",
      DB_PASS_OLD: "1",
      UPSTREAM: "https://user:hunter22@example.com/x",
      PEERS: "a.example,amqp://user:hunter22@b.example",
      ...Object.fromEntries(
        vendors.flatMap(({ keyVariable }) =>
          keyVariable === undefined ? [] : [[keyVariable, "1"]],
        ),
      ),
    };
    const folder = createFolder(t, {
      env: { ...kept, ...secret, PATH: process.env["PATH"], GONE: undefined },
    });
    const { text } = await folder.call("bash", { command: "env -0 | tr '\\0' '\\n'" });
    const names = text.split("\n").map((line) => line.split("=")[0] ?? "");
    for (const name of Object.keys(kept)) assert.ok(names.includes(name), name);
    for (const name of [...Object.keys(secret), "GONE"]) assert.ok(!names.includes(name), name);
  });

  it("passes a proxy without its user name and password", async (t) => {
    const env = {
      https_proxy: "http://ann:hunter22@proxy:3128/",
      ALL_PROXY: "socks5://:hunter22@proxy:1080",
      PATH: process.env["PATH"],
    };
    const folder = createFolder(t, { env });
    const { text } = await folder.call("bash", { command: "echo $https_proxy $ALL_PROXY" });
    assert.equal(text, "http://proxy:3128/ socks5://proxy:1080\n");
  });

  it(
    "cannot stop a command from reading the environment of this process",
    { skip: !isLinux && "no /proc" },
    async (t) => {
      const folder = createFolder(t, { env: { PATH: process.env["PATH"] } });
      const { text } = await folder.call("bash", {
        command: "cut -z -d = -f 1 /proc/$PPID/environ | tr '\\0' '\\n'",
      });
      assert.ok(
        text.split("\n").includes("PATH"),
        "if it is hidden now, docs/security.md has to say so",
      );
    },
  );

  it("runs no bash from the working directory", async (t) => {
    const env: Record<string, string> = {};
    const folder = createFolder(t, { env });
    symlinkSync(folder.root, `${folder.outside}/alias`);
    chmodSync(folder.put("bash", "#!/bin/sh\necho not the one\n"), 0o755);
    chmodSync(folder.put("node_modules/.bin/bash", "#!/bin/sh\necho not the one\n"), 0o755);
    // npm prepends a folder like the last one.
    for (const own of [
      ".",
      "",
      folder.root,
      `${folder.root}/../root`,
      `${folder.root}/node_modules/.bin`,
    ]) {
      env["PATH"] = `${own}:${process.env["PATH"] ?? ""}`;
      assert.equal(
        (await folder.call("bash", { command: "echo ${BASH_VERSION:+the one}" })).text,
        "the one\n",
        own,
      );
    }
  });

  it("reports commands that cannot be started", async (t) => {
    const folder = createFolder(t);
    assert.match(
      (await folder.call("bash", { command: "a\0b" })).text,
      /^Error: The command contains a NUL byte$/,
    );
    const long = await folder.call("bash", { command: `: ${"x".repeat(5e6)}` });
    assert.match(long.text, /^Error: The command is too long for the operating system/);
    rmSync(folder.root, { recursive: true });
    const gone = `Error: The command could not be started: is the working directory ${folder.root} still there?`;
    assert.equal((await folder.call("bash", { command: "ls" })).text, gone);
    writeFileSync(folder.root, "a file of that name");
    assert.equal((await folder.call("bash", { command: "ls" })).text, gone);
  });

  it("leaves no listeners on the process", async (t) => {
    const folder = createFolder(t);
    const count = (): number =>
      ["exit", "SIGINT", "SIGTERM"].reduce((sum, name) => sum + process.listenerCount(name), 0);
    const before = count();
    await folder.call("bash", { command: "true" });
    assert.equal(count(), before);
  });
});

// This test blocks the event loop.
describe(
  "the very end of a command",
  { skip: !isLinux && "only Linux shows what has ended unseen" },
  () => {
    it("counts as in time when the command has exited, even if its output is open and the exit is not yet seen", async (t) => {
      const folder = createFolder(t);
      const command = {
        shell: "/bin/sh",
        command: "sleep 60 & echo $$",
        cwd: folder.root,
        env: {},
        maxOutput: 1e6,
      };
      const { signal } = new AbortController();
      // Doubles the time limit until the output comes before it, even on a busy machine.
      for (let timeoutMs = 200; ; timeoutMs *= 2) {
        const started = performance.now();
        let printed = Infinity;
        const onOutput = (chunk: Buffer): void => {
          printed = performance.now();
          while (isRunning(pidIn(chunk.toString())) || performance.now() - printed <= timeoutMs)
            continue;
        };
        const { reason, exitCode } = await runCommand({ ...command, timeoutMs, signal, onOutput });
        if (printed - started >= timeoutMs) continue;
        assert.deepEqual([reason, exitCode], ["exited", 0]);
        return;
      }
    });
  },
);

/**
 * Runs with a time limit of 1.5 seconds, and doubles it while a busy machine prints nothing in
 * time.
 */
async function untilItPrints(folder: Folder, command: string): Promise<Outcome> {
  for (let timeout = 1.5; ; timeout *= 2) {
    const outcome = await folder.call("bash", { command, timeout });
    if (!outcome.text.startsWith("[no output]")) return outcome;
  }
}

describe("the end of a command", { concurrency: 5 }, () => {
  it("kills a command that exceeds its time limit, with everything it started", async (t) => {
    const folder = createFolder(t);
    const { text, isError } = await untilItPrints(folder, "sleep 60 & echo $!; wait");
    assert.match(text, /^\d+\n\[timed out after [\d.]+ s\]$/);
    assert.equal(isError, true);
    assert.ok(await endsWithin(pidIn(text), 20_000));
  });

  it("kills a process that ignores SIGTERM 2 seconds after the time limit", async (t) => {
    const folder = createFolder(t);
    const started = Date.now();
    const command = "trap '' TERM; echo $$; while :; do sleep 0.1; done";
    const { text, details } = await untilItPrints(folder, command);
    assert.match(text, /^\d+\n\[timed out after [\d.]+ s\]$/);
    assert.ok(
      Date.now() - started >= 2_000 && Date.now() - started < 30_000,
      `${details["durationMs"] as number} ms`,
    );
    assert.ok(!isRunning(pidIn(text)));
  });

  it("settles soon after an abort, also when the command ignores SIGTERM", async (t) => {
    const folder = createFolder(t);
    for (const command of [
      "echo $$; sleep 60",
      "trap '' TERM; echo $$; while :; do sleep 0.1; done",
    ]) {
      const controller = new AbortController();
      let aborted = 0;
      const onUpdate = (): void => {
        aborted ||= Date.now();
        controller.abort(new Error("The run was aborted."));
      };
      const { text, thrown } = await folder.call(
        "bash",
        { command },
        { signal: controller.signal, onUpdate },
      );
      assert.ok(Date.now() - aborted < 30_000, `${Date.now() - aborted} ms`);
      assert.ok(thrown);
      assert.match(
        text,
        /^Error: The command was stopped after [\d.]+ s \(The run was aborted\.\); its output until then:\n\d+\n$/,
      );
      assert.ok(await endsWithin(pidIn(text.split(":\n")[1] ?? ""), 20_000));
    }
  });

  it("does not wait for background processes of a command, and ends them", async (t) => {
    const folder = createFolder(t);
    for (const background of [
      "sleep 60 &",
      "sleep 60 > /dev/null 2>&1 &",
      "(trap '' TERM; sleep 60; :) &",
    ]) {
      const started = Date.now();
      const { text, isError } = await folder.call("bash", { command: `${background} echo $!` });
      assert.ok(Date.now() - started < 30_000);
      assert.equal(isError, false);
      assert.ok(await endsWithin(pidIn(text), 20_000), background);
    }
  });

  it("leaves no command running when its own process ends", async (t) => {
    const folder = createFolder(t);
    const tools = new URL("../../src/tools/bash.ts", import.meta.url).href;
    for (const end of [
      "process.exit(0)",
      'process.kill(process.pid, "SIGTERM")',
      'throw new Error("crash")',
    ]) {
      const script = `
        import { createBashTool } from ${JSON.stringify(tools)};
        const tool = createBashTool({ root: ${JSON.stringify(folder.root)} });
        void tool.execute("1", { command: "trap '' TERM; echo $$; while :; do sleep 0.1; done" }, undefined, ({ content }) => {
          process.stdout.write(content[0].text, () => { ${end} });
        });`;
      const args = ["--conditions=@bowline/source", "--input-type=module", "--eval", script];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
      let text = "";
      child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
      const [code, signal] = (await once(child, "close")) as [number | null, string | null];
      assert.deepEqual(
        [code, signal],
        end.includes("SIGTERM") ? [null, "SIGTERM"] : [end.includes("throw") ? 1 : 0, null],
      );
      assert.ok(pidIn(text) > 0 && (await endsWithin(pidIn(text), 20_000)), end);
    }
  });
});
