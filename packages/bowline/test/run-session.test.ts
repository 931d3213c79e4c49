/**
 * The session of `bowline run`: created, continued, resumed after a kill, locked against a second
 * writer, and replayed without it.
 */
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createSession, openSession, type SessionSummary } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";
import { chatText, loopback } from "../../../test/support/loopback.ts";
import { discoverModel } from "../src/models/discover.ts";
import { parseRunOptions } from "../src/cli/run-options.ts";
import { openRunSession } from "../src/cli/run-session.ts";
import { bowline, temporary, type CommandOptions, type Ended } from "./command.ts";
import { endsWithin } from "./tools/processes.ts";

interface Place extends AsyncDisposable {
  /** The working directory. */
  readonly path: string;
  readonly home: string;
  run(...args: string[]): Promise<Ended>;
  command(args: string[], options?: CommandOptions): Promise<Ended>;
  sessions(): Promise<readonly SessionSummary[]>;
}

async function place(): Promise<Place> {
  const folder = await temporary();
  const home = join(folder.path, "home");
  const command = (args: string[], options: CommandOptions = {}): Promise<Ended> =>
    bowline(args, { cwd: folder.path, ...options, env: { BOWLINE_HOME: home, ...options.env } });
  return {
    path: folder.path,
    home,
    command,
    run: (...args) => command(["run", ...args]),
    sessions: async () => (await createJsonlStore(join(home, "sessions")).list()).sessions,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const idIn = ({ stderr }: Ended): string =>
  /^continue with: bowline run --session (\S+)/m.exec(stderr)?.[1] ?? "";

/** Kills the command with SIGKILL when the file exists. */
function killedAt(file: string): (child: ChildProcess) => void {
  return (child) => {
    const timer = setInterval(() => {
      if (!existsSync(file)) return;
      clearInterval(timer);
      child.kill("SIGKILL");
    }, 10);
    child.on("close", () => clearInterval(timer));
  };
}

/** The first step writes a line each time it runs. The second is killed. */
const twoSteps =
  "run `echo once >> log` and run `echo $$ > pid.new; mv pid.new pid; exec sleep 60`";

/** Creates a session whose process was killed during the second of two tool calls. */
async function killed(here: Place): Promise<void> {
  const { path } = here;
  const { code } = await here.command(["run", "--yes", twoSteps], {
    watch: killedAt(join(path, "pid")),
  });
  assert.equal(code, null);
  // The guard of the command ends it.
  assert.ok(await endsWithin(Number(await readFile(join(path, "pid"), "utf8")), 30_000));
}

describe("the session of a run", () => {
  it("is stored in BOWLINE_HOME, readable by its owner only, and the run ends with how to continue it", async () => {
    await using here = await place();
    const ended = await here.run("what is 2 + 3?");
    assert.deepEqual([ended.code, ended.stdout], [0, "2 + 3 = 5\n"]);
    const id = idIn(ended);
    assert.ok(
      ended.stderr.endsWith(`\ncontinue with: bowline run --session ${id} "<task>"\n`),
      ended.stderr,
    );
    const [only, ...others] = await here.sessions();
    assert.deepEqual(
      [only?.id, only?.title, only?.messageCount, others],
      [id, "what is 2 + 3?", 2, []],
    );
    assert.deepEqual(only?.metadata, { cwd: here.path, model: "practice/practice" });
    const folder = join(here.home, "sessions");
    for (const name of [here.home, folder])
      assert.equal((await stat(name)).mode & 0o777, 0o700, name);
    for (const name of await readdir(folder, { withFileTypes: true })) {
      const mode = (await stat(join(folder, name.name))).mode & 0o777;
      assert.equal(mode, name.isDirectory() ? 0o700 : 0o600, name.name);
    }
  });

  it("is not stored with --no-session", async () => {
    await using here = await place();
    const { code, stdout, stderr } = await here.run("--no-session", "--json", "what is 2 + 3?");
    assert.equal(code, 0);
    assert.doesNotMatch(stdout.split("\n")[0] ?? "", /"session"/);
    assert.doesNotMatch(stderr, /session/i);
    assert.equal(existsSync(here.home), false);
  });

  it("causes a warning before and after a run when it cannot be stored, and an error when it was requested", async () => {
    await using here = await place();
    await writeFile(here.home, "no folder");
    const { code, stdout, stderr } = await here.run("what is 2 + 3?");
    assert.deepEqual([code, stdout], [0, "2 + 3 = 5\n"]);
    assert.equal(stderr.match(/THIS RUN IS NOT SAVED in a session/g)?.length, 2, stderr);
    assert.match(stderr, /ENOTDIR.*Set BOWLINE_HOME to another folder/);
    const asked = await here.run("--session", "mine", "what is 2 + 3?");
    assert.deepEqual([asked.code, asked.stdout], [1, ""]);
    assert.match(asked.stderr, /^bowline: .*ENOTDIR/m);
  });

  it("is continued by --continue or --session, with its model and server", async () => {
    await using here = await place();
    await using server = await loopback(chatText("Forty-two."), chatText("As I said."));
    const first = await here.run("--base-url", server.baseUrl, "--model", "m", "think of a number");
    await here.run(
      "--base-url",
      server.baseUrl,
      "--model",
      "m",
      "--session",
      "other",
      "something else",
    );
    const third = await here.run("--session", idIn(first).slice(0, 8), "which was it?");
    assert.deepEqual([third.code, third.stdout], [0, "As I said.\n"], third.stderr);
    assert.match(third.stderr, /^bowline: custom\/m \(at http/);
    assert.equal(idIn(third), idIn(first));
    const { messages } = JSON.parse(server.requests[2]?.body ?? "") as {
      messages: { role: string; content: string }[];
    };
    assert.deepEqual(
      messages.slice(1).map(({ role, content }) => `${role}: ${content}`),
      ["user: think of a number", "assistant: Forty-two.", "user: which was it?"],
    );
    // The latest session is the one that was just continued.
    assert.equal(idIn(await here.run("-c", "and now?")), idIn(first));
  });

  it("keeps its server when a base URL variable is set or unset later", async () => {
    await using here = await place();
    await using server = await loopback(chatText("Forty-two."), chatText("As I said."));
    const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: server.baseUrl };
    await here.command(["run", "--session", "moved", "-m", "openai/m", "hi"], { env });
    const unset = await here.command(["run", "--session", "moved", "again"], {
      env: { OPENAI_API_KEY: "k" },
    });
    assert.equal(unset.stdout, "As I said.\n", unset.stderr);
    const store = createJsonlStore(join(here.home, "sessions"));
    const own = await createSession(store, {
      id: "own",
      metadata: { cwd: here.path, model: "deepseek/m" },
    });
    await own.append({ type: "model_change", provider: "deepseek", model: "m" });
    await own.close();
    const moved = { DEEPSEEK_API_KEY: "k", DEEPSEEK_BASE_URL: server.baseUrl };
    const host = { ...process, env: { BOWLINE_HOME: here.home } };
    const opened = await openRunSession(
      { ...parseRunOptions(["--session", "own", "again"]), server: { notices: [] } },
      here.path,
      host,
    );
    const { model } = await discoverModel(opened.wanted(), moved);
    await opened.end();
    assert.equal(model.baseUrl, "https://api.deepseek.com");
  });

  it("belongs to its directory: --continue ignores those of other directories", async () => {
    await using here = await place();
    await using elsewhere = await temporary();
    await here.run("what is 2 + 3?");
    const { code, stderr } = await here.command(["run", "-c", "and now?"], { cwd: elsewhere.path });
    assert.deepEqual(
      [code, stderr],
      [1, `bowline: There is no session of ${elsewhere.path} yet.\n`],
    );
  });

  it("is created by --session with a new name, and continued the next time", async () => {
    await using here = await place();
    const first = await here.run("--session", "my work", "what is 2 + 3?");
    assert.match(first.stderr, /^bowline: session my work is new$/m);
    assert.match(first.stderr, /continue with: bowline run --session 'my work' "<task>"/);
    const second = await here.run("--session", "my work", "what is 3 + 4?");
    assert.doesNotMatch(second.stderr, /is new/);
    assert.equal((await here.sessions())[0]?.messageCount, 4);
  });
});

describe("a run that was killed", () => {
  it("is finished by --continue without repeating a call, and unknown results are reported", async () => {
    await using here = await place();
    await killed(here);
    const { code, stdout, stderr } = await here.run("--continue", "--yes");
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /interrupted after 2 answers of the model; 1 of 2 tool calls have their results; unknown, not run again: bash\. Continuing it/,
    );
    assert.match(stdout, /It is not known whether the call took effect/);
    assert.equal(await readFile(join(here.path, "log"), "utf8"), "once\n");
    const again = await here.run("--continue");
    assert.deepEqual([again.code, again.stdout], [2, ""]);
    assert.match(
      again.stderr,
      /^bowline: The session has no interrupted run\. What is the task\?.*\n$/,
    );
  });

  it("is finished before a new task begins, in the same event log", async () => {
    await using here = await place();
    await killed(here);
    const { code, stdout } = await here.run("--continue", "--yes", "--json", "what is 2 + 3?");
    assert.equal(code, 0);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; runId?: string; resumed?: boolean });
    const starts = events.filter(({ type }) => type === "agent_start");
    assert.deepEqual(
      [events[0]?.type, starts.map(({ resumed }) => resumed)],
      ["session", [true, undefined]],
    );
    assert.equal(events.filter(({ type }) => type === "agent_end").length, 2);
    const [session] = await here.sessions();
    const kept = await openSession(
      createJsonlStore(join(here.home, "sessions")),
      session?.id ?? "",
      {
        readOnly: true,
      },
    );
    const ends = (await kept.path()).filter(({ type }) => type === "run_end");
    assert.deepEqual(
      ends.map((end) => "reason" in end && end.reason),
      ["done", "done"],
    );
  });

  it("counts its earlier turns against the budget", async () => {
    await using here = await place();
    await killed(here);
    const { code, stderr } = await here.run(
      "--continue",
      "--yes",
      "--max-turns",
      "2",
      "what is 2 + 3?",
    );
    assert.equal(code, 3, stderr);
    assert.match(stderr, /used its budget of 2 turns[^]*the task was not started/);
  });

  it("can be recorded as it is finished, and replays without a session", async () => {
    await using here = await place();
    await killed(here);
    const live = await here.run(
      "--continue",
      "--yes",
      "--json",
      "--record",
      "run.json",
      "what is 2 + 3?",
    );
    assert.equal(live.code, 0, live.stderr);
    await rm(here.home, { recursive: true });
    const again = await here.command(["replay", "--json", "run.json"]);
    assert.deepEqual([again.code, again.stdout], [0, live.stdout], again.stderr);
    assert.equal(existsSync(here.home), false);
    await writeFile(
      join(here.path, "bad.json"),
      (await readFile(join(here.path, "run.json"), "utf8")).replace(
        '"entries":[{',
        '"entries":[0,{',
      ),
    );
    const bad = await here.command(["replay", "bad.json"]);
    assert.deepEqual(
      [bad.code, bad.stderr],
      [2, "bowline: bad.json: is damaged: setup is missing or wrong.\n"],
    );
  });
});

describe("a full disk", () => {
  it("ends the run with one line about the failed write; --continue finishes it later", async () => {
    await using here = await place();
    await writeFile(join(here.path, "big.txt"), `${"x".repeat(30_000)}\n`);
    const task = ["run", "show the first 5 lines of big.txt"];
    const { code, stderr } = await here.command(task, { before: "ulimit -f 16" });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^bowline: Writing .*\.jsonl failed: there is no space left \(EFBIG\)\.$/m,
    );
    const again = await here.run("--continue");
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stdout, /big\.txt, lines 1 to 1 of 1/);
  });
});

describe("opening a session", () => {
  it("fails with one line when another process writes it, names that process, and asks no model", async () => {
    await using here = await place();
    await using server = await loopback(() => {});
    let holder: ChildProcess | undefined;
    const held = here.command(
      ["run", "--session", "s", "--base-url", server.baseUrl, "--model", "m", "wait"],
      {
        watch: (child) => (holder = child),
      },
    );
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const which of [["--session", "s"], ["--continue"]]) {
      const { code, stdout, stderr } = await here.run(...which, "me too");
      assert.deepEqual([code, stdout], [1, ""]);
      assert.equal(
        stderr,
        `bowline: Session "s" is in use by process ${holder?.pid}. Close it there, or open it for reading only.\n`,
      );
    }
    assert.equal(server.requests.length, 1);
    holder?.kill("SIGKILL");
    await held;
    assert.equal(
      (await here.run("--session", "s", "--model", "practice", "what is 2 + 3?")).code,
      0,
    );
  });

  it("reports damage and continues", async () => {
    await using here = await place();
    const id = idIn(await here.run("what is 2 + 3?"));
    const file = join(here.home, "sessions", `${id}.jsonl`);
    const text = await readFile(file, "utf8");
    await writeFile(file, `${text.replace("2 + 3 = 5", "2 + 3 = 6")}{"seq":4,"torn`);
    const { code, stderr } = await here.run("-c", "what is 3 + 4?");
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /^bowline: The end of .* was incomplete and was cut off\. The damaged part was saved to .*damaged-1\.$/m,
    );
    assert.match(stderr, /^bowline: A record of .* is damaged and was left out\.$/m);
  });

  const usage: Record<string, [string[], RegExp]> = {
    "two choices": [
      ["--session", "a", "--continue", "hi"],
      /--session, --resume, --continue and --no-session exclude each other/,
    ],
    "control characters": [
      ["--session", "a\u001bb", "hi"],
      /--session takes an id without control characters/,
    ],
    "no id": [["--session", "", "hi"], /--session needs a value/],
    "an image without a task": [
      ["--session", "a", "--image", "a.png"],
      /--image a\.png: cannot be read/,
    ],
  };
  for (const [what, [args, said]] of Object.entries(usage)) {
    it(`fails with one line and exit code 2 for wrong usage: ${what}`, async () => {
      const { code, stderr, stdout } = await bowline(["run", ...args]);
      assert.deepEqual([code, stdout, stderr.split("\n").length], [2, "", 2], stderr);
      assert.match(stderr, said);
    });
  }
});
