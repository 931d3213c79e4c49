/** `bowline sessions`: each subcommand as a user types it, over files written by a store. */
import assert from "node:assert/strict";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import {
  createSession,
  openSession,
  type EntryBody,
  type SessionMessage,
  type Store,
} from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";
import { dataFolder } from "../src/home.ts";
import { listSessions, searchSessions } from "../src/cli/session-list.ts";
import { parseSessionsOptions } from "../src/cli/sessions-options.ts";
import { sessions } from "../src/cli/sessions.ts";
import { bowline, temporary, type Ended } from "./command.ts";

const user = (text: string, timestamp = 1): SessionMessage => ({
  role: "user",
  content: text,
  timestamp,
});

interface Seed {
  readonly id: string;
  readonly cwd?: string;
  /** The time of the session's entries. */
  readonly at?: number;
  readonly messages?: readonly SessionMessage[];
  readonly more?: readonly EntryBody[];
}

interface Place extends AsyncDisposable {
  readonly path: string;
  readonly folder: string;
  readonly env: Record<string, string>;
  readonly store: Store;
  run(...args: string[]): Promise<Ended>;
  add(...seeds: Seed[]): Promise<void>;
}

async function place(): Promise<Place> {
  const temp = await temporary();
  const { path } = temp;
  const env = { BOWLINE_HOME: join(path, "home"), TZ: "UTC" };
  const folder = join(path, "home", "sessions");
  const store = createJsonlStore(folder, { sync: "never" });
  return {
    path,
    folder,
    env,
    store,
    run: (...args) => bowline(["sessions", ...args], { cwd: path, env }),
    async add(...seeds) {
      for (const {
        id,
        cwd = path,
        at = 0,
        messages = [user(`task of ${id}`)],
        more = [],
      } of seeds) {
        const clock = { now: () => at, setTimer: () => () => {} };
        const session = await createSession(store, {
          id,
          clock,
          metadata: { cwd, model: "openai/gpt-x" },
        });
        for (const message of messages) await session.append({ type: "message", message });
        for (const body of more) await session.append(body);
        await session.close();
      }
    },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

const day = (number: number): number => Date.UTC(2026, 10, number, 9, 30);
const one = "11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
const two = "11111111-bbbb-4bbb-8bbb-bbbbbbbbbbbb";
const conversation: readonly SessionMessage[] = [
  user("what is in a.txt?"),
  {
    role: "assistant",
    content: [
      { type: "text", text: "I will look." },
      {
        type: "toolCall",
        id: "c1",
        name: "read",
        arguments: { path: "a.txt" },
        argumentsText: "{}",
      },
    ],
    model: "gpt-x",
  },
  {
    role: "toolResult",
    toolCallId: "c1",
    toolName: "read",
    content: [{ type: "text", text: "rope" }],
    isError: false,
    timestamp: 1,
  },
  { role: "assistant", content: [{ type: "text", text: "It says rope." }], model: "gpt-x" },
];

describe("bowline sessions", () => {
  it("lists the sessions of this directory, latest first; with --all those of every directory", async () => {
    await using here = await place();
    const open: EntryBody[] = [
      { type: "run_start", runId: "r" },
      { type: "message", runId: "r", message: user("again") },
    ];
    await here.add(
      { id: one, at: day(1) },
      { id: two, at: day(3), more: open },
      { id: "x", cwd: "/else", at: day(2) },
    );
    const { code, stdout, stderr } = await here.run();
    assert.deepEqual([code, stderr], [0, ""]);
    assert.equal(
      stdout,
      `11111111-b  2026-11-03 09:30  2 messages  openai/gpt-x  task of ${two}  interrupted
11111111-a  2026-11-01 09:30  1 message   openai/gpt-x  task of ${one}
`,
    );
    const all = (await here.run("list", "--all", "--limit", "2")).stdout.trimEnd().split("\n");
    assert.deepEqual([all.length, all[1]?.endsWith("  openai/gpt-x  task of x  /else")], [2, true]);
    const json = (await here.run("--json")).stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    assert.deepEqual(json[0], {
      id: two,
      title: `task of ${two}`,
      createdAt: day(3),
      updatedAt: day(3),
      messageCount: 2,
      entryCount: 3,
      isUnfinished: true,
      metadata: { cwd: here.path, model: "openai/gpt-x" },
    });
  });

  it("shows which process has a session open, and whether a run is in progress", async () => {
    await using here = await place();
    const open: EntryBody[] = [
      { type: "run_start", runId: "r" },
      { type: "message", runId: "r", message: user("again") },
    ];
    await here.add(
      { id: "a", at: day(3), more: open },
      { id: "b", at: day(2) },
      { id: "c", at: day(1), more: open },
    );
    const held = await Promise.all(["a", "b"].map((id) => openSession(here.store, id)));
    const { stdout } = await here.run();
    const [first, second, third] = stdout.split("\n");
    assert.ok(first?.endsWith(`task of a  running by process ${process.pid}`), stdout);
    assert.ok(second?.endsWith(`task of b  in use by process ${process.pid}`), stdout);
    assert.ok(third?.endsWith("task of c  interrupted"), stdout);
    const json = JSON.parse((await here.run("--json")).stdout.split("\n")[0] ?? "") as {
      isUnfinished: boolean;
      holder: object;
    };
    assert.deepEqual(
      [json.isUnfinished, Object.keys(json.holder)],
      [true, ["isThisProcess", "pid", "host", "since"]],
    );
    await Promise.all(held.map((session) => session.close()));
    assert.ok((await here.run()).stdout.split("\n")[1]?.endsWith("task of b"));
  });

  it("shows queued messages that wait for a run", async () => {
    await using here = await place();
    const waits: EntryBody = { type: "queued", queue: "followUp", message: user("and then?") };
    await here.add({ id: "a", more: [waits] });
    assert.match((await here.run("show", "a")).stdout, /task of a\n\n— waits: and then\?\n$/);
  });

  it("shows a compaction, and that it was undone", async () => {
    await using here = await place();
    const more: EntryBody[] = [
      { type: "compaction", summary: "The gist.", firstKeptId: null },
      { type: "compaction_undo", compactionId: "any" },
    ];
    await here.add({ id: "a", more });
    const { stdout } = await here.run("show", "a");
    assert.match(
      stdout,
      /\nThe gist\.\n\n— the summary was withdrawn; the model gets the messages again/,
    );
  });

  it("says that there are none here, and how many there are elsewhere", async () => {
    await using here = await place();
    const none = await here.run();
    assert.deepEqual(
      [none.code, none.stdout, none.stderr],
      [0, "", "bowline: no session of this directory yet\n"],
    );
    await here.add({ id: "x", cwd: "/else" });
    assert.match((await here.run()).stderr, /yet; --all shows 1 of other directories\n$/);
    assert.deepEqual(
      [(await here.run("--json")).stdout, (await here.run("--json")).stderr],
      ["", ""],
    );
  });

  it("lists a thousand sessions, and reads the end only of those it shows", async () => {
    await using here = await place();
    const seeds = Array.from({ length: 1000 }, (_, at) => ({
      id: `s${String(at).padStart(4, "0")}`,
      at: day(1) + at,
    }));
    await here.add(...seeds);
    const { code, stdout, stderr, ms } = await here.run();
    const lines = stdout.trimEnd().split("\n");
    assert.deepEqual(
      [code, lines.length, stderr],
      [0, 20, "bowline: 980 more; --limit shows them\n"],
    );
    assert.match(lines[0] ?? "", /^s0999 /);
    assert.ok(ms < 20_000, `${ms} ms`);
    const read: string[] = [];
    const counting: Store = {
      ...here.store,
      read(id, options) {
        read.push(id);
        return here.store.read(id, options);
      },
    };
    const { host, seen } = hostOf(here, false);
    await listSessions(counting, parseSessionsOptions([]), host);
    assert.equal(seen().stdout, stdout);
    assert.equal(new Set(read).size, 20);
  });

  it("shows a session with its calls and their results", async () => {
    await using here = await place();
    await here.add({
      id: one,
      at: day(1),
      messages: conversation,
      more: [{ type: "run_end", runId: "r", reason: "aborted" }],
    });
    const { code, stdout } = await here.run("show", "latest");
    assert.equal(code, 0);
    assert.equal(
      stdout.replaceAll(/ {2}[0-9a-f]{8}$/gm, "  ID"),
      `session ${one}, begun 2026-11-01 09:30

You  2026-11-01 09:30  ID
what is in a.txt?

gpt-x  2026-11-01 09:30  ID
I will look.
→ read {"path":"a.txt"}

✓ read  2026-11-01 09:30  ID
rope

gpt-x  2026-11-01 09:30  ID
It says rope.

— the run ended: aborted  2026-11-01 09:30  ID
`,
    );
    const json = JSON.parse((await here.run("show", "--json", one)).stdout) as {
      entries: unknown[];
    };
    assert.equal(json.entries.length, 5);
  });

  it("searches titles, and messages too with --text", async () => {
    await using here = await place();
    await here.add(
      { id: "a", messages: conversation },
      { id: "b", cwd: "/else", messages: [user("ROPES and knots")] },
    );
    const titles = await here.run("search", "rope", "knots");
    assert.deepEqual(
      [titles.code, titles.stdout.split(" ")[0], titles.stdout.split("\n").length],
      [0, "b", 2],
    );
    const text = await here.run("search", "-t", "rope");
    assert.deepEqual(
      new Set(
        text.stdout
          .trimEnd()
          .split("\n")
          .map((line) => line[0]),
      ),
      new Set(["a", "b"]),
    );
    const none = await here.run("search", "nowhere");
    assert.deepEqual([none.code, none.stdout], [1, ""]);
    assert.match(
      none.stderr,
      /no session has "nowhere" in its title; --text looks into the messages too/,
    );
  });

  it("forks at an entry: the new session has the entries before it, and the old one is unchanged", async () => {
    await using here = await place();
    await here.add({ id: "a", messages: conversation });
    const shown = (await here.run("show", "a")).stdout;
    const entry = /✓ read .* ([0-9a-f]{8})$/m.exec(shown)?.[1] ?? "";
    const { code, stdout } = await here.run("fork", "a", "--at", entry);
    assert.equal(code, 0);
    assert.match((await here.run("show", stdout.trim())).stdout, /forked from a[^]*rope\n$/);
    assert.equal((await here.run("show", "a")).stdout, shown);
    const none = await here.run("fork", "a", "--at", "zzz");
    assert.deepEqual([none.code, none.stderr], [1, 'bowline: --at: no entry has the id "zzz".\n']);
  });

  it("renames, and escapes control characters of a title", async () => {
    await using here = await place();
    await here.add({ id: "a" });
    const { code, stderr } = await here.run("rename", "a", "an \u001b[2Jevil", "title\u0007");
    assert.deepEqual([code, stderr], [0, 'bowline: session a is now "an ␛[2Jevil title␇"\n']);
    assert.match((await here.run()).stdout, / {2}an ␛\[2Jevil title␇\n$/);
  });

  it("exports for people and programs, to a file that only its owner can read", async () => {
    await using here = await place();
    await here.add({ id: "a", messages: conversation });
    assert.match((await here.run("export", "a")).stdout, /^# what is in a\.txt\?\n/);
    assert.match((await here.run("export", "a", "--format", "html")).stdout, /^<!doctype html>/i);
    assert.equal(
      (
        JSON.parse((await here.run("export", "a", "-f", "json")).stdout) as {
          header: { id: string };
        }
      ).header.id,
      "a",
    );
    const { code, stdout } = await here.run("export", "a", "--output", "out.html");
    assert.deepEqual([code, stdout], [0, ""]);
    assert.match(await readFile(join(here.path, "out.html"), "utf8"), /^<!doctype html>/i);
    assert.equal((await stat(join(here.path, "out.html"))).mode & 0o777, 0o600);
    await writeFile(join(here.path, "old.md"), "old", { mode: 0o644 });
    assert.equal((await here.run("export", "a", "--output", "old.md")).code, 0);
    assert.equal((await stat(join(here.path, "old.md"))).mode & 0o777, 0o600);
    assert.match(await readFile(join(here.path, "old.md"), "utf8"), /^# what is in/);
    assert.equal((await here.run("export", "a", "--output", "/dev/null")).code, 0);
    const bad = await here.run("export", "a", "--output", "none/out.md");
    assert.deepEqual(
      [bad.code, bad.stderr],
      [1, "bowline: --output none/out.md: cannot be written (ENOENT).\n"],
    );
  });

  it("deletes with --yes, refuses without it when it cannot ask, and refuses a session being written", async () => {
    await using here = await place();
    await here.add({ id: "a" });
    const refused = await here.run("delete", "a");
    assert.deepEqual(
      [refused.code, refused.stderr],
      [2, "bowline: There is no terminal to ask on: --yes deletes session a.\n"],
    );
    const writer = await here.store.open("a");
    const held = await here.run("delete", "a", "--yes");
    assert.deepEqual([held.code, /in use by process \d+/.test(held.stderr)], [1, true]);
    await writer.close();
    const { code, stderr } = await here.run("delete", "a", "--yes");
    assert.deepEqual([code, stderr], [0, "bowline: session a is deleted\n"]);
    assert.equal(
      (await readdir(here.folder)).some((name) => name.endsWith(".jsonl")),
      false,
    );
  });

  it("reports damaged sessions and continues with the rest", async () => {
    await using here = await place();
    await here.add({ id: "a", messages: conversation }, { id: "b" });
    const file = join(here.folder, "a.jsonl");
    await writeFile(file, (await readFile(file, "utf8")).replace("I will look", "I will lock"));
    await writeFile(join(here.folder, "c.jsonl"), "\u0000\u0001 no session\n");
    const list = await here.run();
    assert.deepEqual([list.code, list.stdout.trimEnd().split("\n").length], [0, 2]);
    assert.match(
      list.stderr,
      /^bowline: .*c\.jsonl is not listed: it is damaged, of a newer version, or no session\n$/,
    );
    const { code, stdout, stderr } = await here.run("show", "a");
    assert.equal(code, 0);
    assert.match(stdout, /what is in a\.txt\?[^]*It says rope\./);
    assert.match(
      stderr,
      /^bowline: A record of .*a\.jsonl at bytes \d+ to \d+ is damaged and was left out\.\n$/,
    );
  });

  const wrong: Record<string, [string[], number, RegExp]> = {
    "no such command": [["lst"], 2, /There is no bowline sessions "lst": use one of list, show,/],
    "no id": [["show"], 2, /Which id\? bowline sessions show <id>/],
    "no title": [["rename", "a"], 2, /Which title\? bowline sessions rename <id> <title>/],
    "one operand too many": [["show", "a", "b"], 2, /bowline sessions show <id> takes no "b"/],
    "another command's option": [
      ["show", "a", "--all"],
      2,
      /Unknown option '--all'.* See bowline sessions --help/,
    ],
    "a limit that is none": [
      ["--limit", "0"],
      2,
      /--limit takes a whole number of at least 1, not "0"/,
    ],
    "a format that is none": [
      ["export", "a", "--format", "pdf"],
      2,
      /--format takes one of md, html, json, not "pdf"/,
    ],
    "an unknown id": [["show", "nope"], 1, /There is no session "nope"/],
    "an id that can be none": [["show", "\udc00"], 1, /There is no session|A session id must be/],
    "a beginning of several": [
      ["show", "1111"],
      1,
      /2 sessions begin with "1111": 11111111-[^]*, 11111111-/,
    ],
    "no latest": [["show", "latest"], 1, /There is no session of .* yet/],
  };
  it("reports wrong usage on one line, with exit code 2, or 1 for a missing session", async () => {
    await using here = await place();
    await here.add({ id: one, cwd: "/else" }, { id: two, cwd: "/else" });
    for (const [what, [args, exit, said]] of Object.entries(wrong)) {
      const { host, seen } = hostOf(here, false);
      const name = exit === 2 ? "UsageError" : "CommandError";
      await assert.rejects(sessions(args, host), { name, message: said }, what);
      assert.deepEqual(seen(), { stdout: "", stderr: "" });
    }
    const { code, stdout, stderr } = await here.run("show", "nope");
    assert.deepEqual([code, stdout, stderr], [1, "", 'bowline: There is no session "nope".\n']);
    const help = await here.run("--help");
    assert.deepEqual([help.code, help.stderr], [0, ""]);
  });
});

/** A fake process for the command. When its terminal shows a question, `answer` is typed. */
function hostOf(
  here: Place,
  isTTY: boolean,
  answer = "",
): { readonly host: NodeJS.Process; readonly seen: () => Pick<Ended, "stdout" | "stderr"> } {
  const stream = (): PassThrough & { isTTY: boolean } =>
    Object.assign(new PassThrough(), { isTTY });
  const [stdin, stdout, stderr] = [stream(), stream(), stream()];
  const seen = { stdout: "", stderr: "" };
  stdout.setEncoding("utf8").on("data", (text: string) => (seen.stdout += text));
  stderr.setEncoding("utf8").on("data", (text: string) => {
    seen.stderr += text;
    if (text.includes("[N]o")) stdin.write(answer);
  });
  const host = {
    stdin,
    stdout,
    stderr,
    env: here.env,
    cwd: () => here.path,
  } as unknown as NodeJS.Process;
  return { host, seen: () => seen };
}

async function onTerminal(here: Place, args: readonly string[], answer?: string): Promise<Ended> {
  const { host, seen } = hostOf(here, true, answer);
  return { code: await sessions(args, host), ...seen(), ms: 0 };
}

describe("bowline sessions on a terminal", () => {
  it("deletes a session only after a yes", async () => {
    await using here = await place();
    await here.add({ id: "a" });
    const no = await onTerminal(here, ["delete", "a"], "\n");
    assert.match(
      no.stderr,
      /Delete session a \(task of a\)\? \[y\]es, \[N\]o: [^]*bowline: nothing was deleted\n$/,
    );
    assert.equal(no.code, 1);
    assert.equal((await onTerminal(here, ["delete", "a"], "y\n")).code, 0);
    assert.deepEqual((await here.store.list()).sessions, []);
  });

  it("uses colours, and exports no cursor control", async () => {
    await using here = await place();
    await here.add({ id: "a", messages: [user("\u001b[2Jhello")] });
    const shown = await onTerminal(here, ["show", "a"]);
    assert.match(shown.stdout, /\u001b\[1mYou\u001b\[22m[^]*␛\[2Jhello/);
    const exported = await onTerminal(here, ["export", "a"]);
    assert.doesNotMatch(exported.stdout, /\u001b/);
  });

  it("continues a search when a session is deleted meanwhile", async () => {
    await using here = await place();
    await here.add({ id: "a" }, { id: "b" });
    const { host } = hostOf(here, false);
    const options = parseSessionsOptions(["search", "--text", "nowhere"]);
    const list: Store["list"] = async (wanted) => {
      const page = await here.store.list(wanted);
      await here.store.delete("a").catch(() => {}); // on the second call it no longer exists
      return page;
    };
    assert.equal(await searchSessions({ ...here.store, list }, "nowhere", options, host), 0);
  });

  it("shows the progress of a long search", async () => {
    await using here = await place();
    await here.add(...Array.from({ length: 30 }, (_, at) => ({ id: `s${at}` })));
    const { stderr } = await onTerminal(here, ["search", "--text", "task of s29"]);
    assert.equal(stderr, "\r\u001b[2K… 25 of 30 sessions\r\u001b[2K");
  });
});

describe("the data folder", () => {
  it("is BOWLINE_HOME, or else the one of XDG, or else the system's", () => {
    const home = (): string => "/home/ada";
    const on = (env: Record<string, string>, platform: NodeJS.Platform): string =>
      dataFolder(env, platform, home);
    assert.equal(on({ BOWLINE_HOME: "/b", XDG_DATA_HOME: "/x" }, "linux"), "/b");
    assert.equal(on({ BOWLINE_HOME: " ", XDG_DATA_HOME: "/x" }, "darwin"), "/x/bowline");
    assert.equal(on({ XDG_DATA_HOME: "relative" }, "linux"), "/home/ada/.local/share/bowline");
    assert.equal(on({}, "darwin"), "/home/ada/Library/Application Support/bowline");
    assert.equal(on({ LOCALAPPDATA: "/l" }, "win32"), "/l/bowline");
    assert.equal(on({}, "win32"), "/home/ada/AppData/Local/bowline");
  });
});
