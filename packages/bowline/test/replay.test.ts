/**
 * `bowline run --record` and `bowline replay`: identical output, without a server, a tool or a
 * question.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { AgentEvent } from "@bowline/core";
import {
  chatText,
  failing,
  loopback,
  streamed,
  type Handler,
} from "../../../test/support/loopback.ts";
import { bowline, temporary, type CommandOptions, type Ended } from "./command.ts";

type Call = readonly [name: string, args: object];

/** Tool calls of the model. Without an id from the server, the client assigns one. */
function calls(id: string | undefined, ...wanted: readonly Call[]): Handler {
  const tool_calls = wanted.map(([name, args], index) => ({
    index,
    ...(id !== undefined && { id: `${id}_${index}` }),
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  return streamed(
    { choices: [{ index: 0, delta: { tool_calls }, finish_reason: "tool_calls" }] },
    "[DONE]",
  );
}

/** Sends half an answer and stays silent. */
const half: Handler = (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write('data: {"choices":[{"delta":{"content":"half"}}]}\n\n');
};

const at = (baseUrl: string, ...more: string[]): string[] => [
  "run",
  "--base-url",
  baseUrl,
  "--model",
  "m",
  ...more,
];

/** Asserts that `run.json`, the recording of an aborted run, replays identically. */
async function assertPlayed(cwd: string, live: Ended): Promise<void> {
  const again = await bowline(["replay", "--json", "run.json"], { cwd });
  assert.deepEqual([again.code, again.stdout], [130, live.stdout], again.stderr);
}

interface Recorded {
  readonly file: string;
  readonly live: Ended;
  readonly path: string;
}

/** Records a run in a temporary folder, and closes the server. */
async function recorded<T>(
  handlers: readonly Handler[],
  args: readonly string[],
  test: (recorded: Recorded) => Promise<T>,
  options: CommandOptions = {},
): Promise<T> {
  await using folder = await temporary();
  await writeFile(join(folder.path, "a.txt"), "what the file says\n");
  const server = await loopback(...handlers);
  const file = join(folder.path, "run.json");
  const live = await bowline(at(server.baseUrl, "--record", file, ...args), {
    cwd: folder.path,
    ...options,
  });
  await server[Symbol.asyncDispose]();
  return await test({ file, live, path: folder.path });
}

const eventsOf = (stdout: string): AgentEvent[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as AgentEvent);

describe("a recorded run", () => {
  it("replays without the server, the files or the directory, with the same answer and event log", async () => {
    const handlers = [
      calls(
        "call",
        ["read", { path: "a.txt" }],
        ["bash", { command: "echo one; sleep 0.3; echo two > b.txt; cat b.txt" }],
      ),
      calls(undefined, ["glob", { pattern: "*.txt" }]),
      chatText("It says something."),
    ];
    await recorded(handlers, ["--json", "--yes", "look"], async ({ file, live, path }) => {
      assert.equal(live.code, 0, live.stderr);
      assert.ok(eventsOf(live.stdout).some(({ type }) => type === "tool_execution_end"));
      await rm(join(path, "b.txt"));
      await rm(join(path, "a.txt"));
      const again = await bowline(["replay", "--json", file]);
      assert.equal(again.code, 0, again.stderr);
      assert.equal(again.stdout, live.stdout);
      assert.match(again.stderr, /^bowline: replaying .*run\.json: custom\/m\n$/);
      assert.equal(existsSync(join(path, "b.txt")), false, "nothing was executed");
      const text = await bowline(["replay", file]);
      assert.deepEqual([text.code, text.stdout], [0, "It says something.\n"]);
      assert.match(text.stderr, /→ bash .*\n(?:.*\n)*.*✓ bash \((?:\d{3,} ms|[\d.]+ s)\)/);
      assert.equal((await stat(file)).mode & 0o777, 0o600);
    });
  });

  it("prints the same answer as text, also for a run of the practice model", async () => {
    await using folder = await temporary();
    await writeFile(join(folder.path, "a.txt"), "one\ntwo\n");
    for (const json of [[], ["--json"]]) {
      const live = await bowline(
        ["run", "--record", "p.json", ...json, "how many lines has a.txt?"],
        {
          cwd: folder.path,
        },
      );
      assert.equal(live.code, 0, live.stderr);
      const again = await bowline(["replay", ...json, "p.json"], { cwd: folder.path });
      assert.deepEqual([again.code, again.stdout], [0, live.stdout], again.stderr);
    }
  });

  it("repeats a denied call", async () => {
    const handlers = [
      calls("c", ["write", { path: "b.txt", content: "x" }]),
      chatText("Could not."),
    ];
    await recorded(handlers, ["--json", "write"], async ({ file, live }) => {
      const again = await bowline(["replay", "--json", file]);
      assert.equal(again.stdout, live.stdout);
      assert.match(live.stdout, /there is no terminal to ask on/);
    });
  });

  it("repeats failures: retries without their waits, a broken stream, a redacted key", async () => {
    const broken: Handler = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"choices":[{"delta":{"content":"half"}}]}\n\n');
      setTimeout(() => response.destroy(), 30);
    };
    const key = "hush-hush-hush-1";
    const servers = {
      retried: [
        failing(503, { error: { message: "busy" } }, { "retry-after": "2" }),
        chatText("At last."),
      ],
      broken: [broken],
      refused: [failing(401, { error: { message: `Incorrect API key provided: ${key}` } })],
    };
    const ended: (number | null)[] = [];
    for (const [how, handlers] of Object.entries(servers)) {
      const options = { env: { MY_KEY: key, OTHER_TOKEN: "another-secret" } };
      await recorded(
        handlers,
        ["--json", "--api-key-env", "MY_KEY", "say another-secret"],
        async ({ file, live }) => {
          const again = await bowline(["replay", "--json", file]);
          ended.push(live.code);
          assert.equal(again.code, live.code, again.stderr);
          const known = live.stdout.replaceAll("another-secret", "[redacted]");
          assert.equal(again.stdout, known);
          const text = await readFile(file, "utf8");
          assert.doesNotMatch(text, /hush|another-secret/);
          assert.match(text, /say \[redacted\]/);
          if (how !== "retried") return;
          // On a busy machine either start may take long.
          let { ms } = again;
          for (let tries = 0; ms >= live.ms && tries < 5; tries++)
            ({ ms } = await bowline(["replay", "--json", file]));
          assert.ok(ms < live.ms, "its waits are not waited for");
        },
        options,
      );
    }
    assert.deepEqual(ended, [0, 1, 1]);
  });

  it("runs out of time at the same point", async () => {
    await recorded([() => {}], ["--json", "--timeout", "0.5", "wait"], async ({ file, live }) => {
      const again = await bowline(["replay", "--json", file]);
      assert.deepEqual([live.code, again.code, again.stdout], [3, 3, live.stdout]);
    });
  });

  it("is written when Ctrl-C ends the run, and ends at the same point", async () => {
    const hang = calls("c", [
      "bash",
      { command: 'trap "" TERM; echo begun; touch begun; sleep 60; sleep 60' },
    ]);
    await using folder = await temporary();
    await using server = await loopback(hang);
    const live = await bowline(
      at(server.baseUrl, "--yes", "--json", "--record", "run.json", "hang"),
      {
        cwd: folder.path,
        watch: (child) => {
          const timer = setInterval(() => {
            if (!existsSync(join(folder.path, "begun"))) return;
            clearInterval(timer);
            child.kill("SIGINT");
          }, 20);
          child.on("close", () => clearInterval(timer));
        },
      },
    );
    assert.equal(live.code, 130);
    await assertPlayed(folder.path, live);
  });

  it("ends in the middle of an answer where Ctrl-C ended it", async () => {
    await using folder = await temporary();
    await using server = await loopback((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const timer = setInterval(
        () => response.write('data: {"choices":[{"delta":{"content":"la "}}]}\n\n'),
        5,
      );
      response.on("close", () => clearInterval(timer));
    });
    const live = await bowline(at(server.baseUrl, "--json", "--record", "run.json", "sing"), {
      cwd: folder.path,
      watch: (child) => {
        child.stdout?.once("data", () => setTimeout(() => child.kill("SIGINT"), 100));
      },
    });
    assert.match(live.stdout, /"reason":"aborted"/);
    await assertPlayed(folder.path, live);
  });

  it("is written when the terminal closes", async () => {
    await using folder = await temporary();
    await using server = await loopback(half);
    const live = await bowline(at(server.baseUrl, "--json", "--record", "run.json", "hang"), {
      cwd: folder.path,
      watch: (child) => {
        child.stdout?.on("data", (text: string) => {
          if (text.includes("text_delta")) child.kill("SIGHUP");
        });
      },
    });
    assert.deepEqual([live.code, /"reason":"aborted"/.test(live.stdout)], [130, true]);
    await assertPlayed(folder.path, live);
  });

  it("is written up to the point where a second Ctrl-C ended the run", async () => {
    await using folder = await temporary();
    await using server = await loopback(half);
    const live = await bowline(at(server.baseUrl, "--json", "--record", "run.json", "hang"), {
      cwd: folder.path,
      watch: (child) => {
        child.stdout?.on("data", (text: string) => {
          if (!text.includes("text_delta")) return;
          process.kill(child.pid ?? 0, "SIGTERM");
          process.kill(child.pid ?? 0, "SIGINT");
        });
      },
    });
    assert.equal(live.code, 130);
    const again = await bowline(["replay", "--json", "run.json"], { cwd: folder.path });
    assert.ok(again.stdout.startsWith(live.stdout), again.stdout);
  });
});

describe("an unusual recording", () => {
  const oneLine = async (file: string): Promise<Ended> => {
    const ended = await bowline(["replay", file]);
    assert.equal(ended.stdout, "");
    return ended;
  };

  it("is reported on one line: missing, not a recording, another version, damaged", async () => {
    await using folder = await temporary();
    const file = join(folder.path, "x.json");
    const missing = await oneLine(file);
    assert.deepEqual(
      [missing.code, missing.stderr],
      [2, `bowline: ${file}: cannot be read (ENOENT).\n`],
    );
    for (const [content, said] of [
      ["{", "is not JSON."],
      ["[]", "is not a recording of bowline run."],
      ['{"kind":"bowline run","version":9}', "has version 9; this bowline replays version 1."],
      ['{"kind":"bowline run","version":1}', "is damaged: setup is missing or wrong."],
    ] as const) {
      await writeFile(file, content);
      const { code, stderr } = await oneLine(file);
      assert.deepEqual([code, stderr], [2, `bowline: ${file}: ${said}\n`]);
    }
    assert.match((await bowline(["replay"])).stderr, /^bowline: Name a recording:.*\n$/);
  });

  it("that was edited fails at the point where it differs from the run, and names it", async () => {
    const handlers = [calls("c", ["read", { path: "a.txt" }]), chatText("Done.")];
    await recorded(handlers, ["look"], async ({ file }) => {
      const text = await readFile(file, "utf8");
      const change = async (from: string, to: string, exit = 1): Promise<string> => {
        assert.ok(text.includes(from), from);
        await writeFile(file, text.replace(from, to));
        const { code, stderr, stdout } = await bowline(["replay", file]);
        assert.deepEqual([code, stdout], [exit, ""], stderr);
        return stderr;
      };
      assert.match(
        await change('"task":"look"', '"task":"listen"'),
        /^bowline: .* cannot be replayed to its end: No recorded answer for POST .*messages\[1\]\.content: expected the string "look", received the string "listen"\.$/m,
      );
      assert.match(
        await change('"calls":[{"tool":"read"', '"calls":[{"tool":"grep"'),
        /^bowline: .* cannot be replayed to its end: it has no result for this call of read\.$/m,
      );
      assert.match(
        await change('"exchanges":[{"request"', '"exchanges":[{"nothing"', 2),
        /^bowline: .*run\.json: Exchange 0 of the recording is not valid\.\n$/,
      );
    });
  });

  it("fails before a model is asked when its file cannot be written", async () => {
    await using folder = await temporary();
    await using server = await loopback(chatText("no"));
    for (const [file, said] of [
      [join(folder.path, "none", "x.json"), /cannot be written \(ENOENT\)/],
      [folder.path, /is a directory/],
    ] as const) {
      const { code, stderr } = await bowline(at(server.baseUrl, "--record", file, "hi"));
      assert.deepEqual([code, stderr.split("\n").length], [2, 2], stderr);
      assert.match(stderr, said);
    }
    assert.equal(server.requests.length, 0);
  });

  it("of a run whose server never answered replays the same failure", async () => {
    await using folder = await temporary();
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve));
    const { port } = free.address() as { port: number };
    await new Promise((resolve) => free.close(resolve));
    const file = join(folder.path, "run.json");
    const live = await bowline(
      at(`http://127.0.0.1:${port}/v1`, "--retry-for", "1", "--json", "--record", file, "hi"),
    );
    const again = await bowline(["replay", "--json", file]);
    assert.deepEqual([live.code, again.code, again.stdout], [1, 1, live.stdout]);
  });
});
