/** The options of the tools. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Worker } from "node:worker_threads";
import { isBowlineError, toJsonSchema, type AgentTool } from "@bowline/core";
import {
  createTools,
  needsApproval,
  type ToolName,
  type ToolsOptions,
} from "../../src/tools/index.ts";
import { createFolder } from "./folder.ts";

const refused = (options: Partial<ToolsOptions>, words: RegExp): void =>
  assert.throws(
    () => createTools({ root: ".", ...options }),
    (error) =>
      isBowlineError(error) && error.code === "invalid_argument" && words.test(error.message),
  );

describe("createTools", () => {
  it("refuses an option or limit that it does not know, and names the nearest", () => {
    refused({ hiden: () => [] } as object, /option "hiden".*"hidden"/);
    refused({ limits: { comandMs: 1 } as object }, /limit "comandMs".*"commandMs"/);
    refused({ root: undefined } as object, /need root/);
  });

  it("returns the six tools; write, edit and bash need approval", () => {
    const tools = createTools({ root: "." });
    const approvals = tools.map(({ name }) => [name, needsApproval(name)]);
    assert.deepEqual(Object.fromEntries(approvals), {
      read: false,
      write: true,
      edit: true,
      bash: true,
      grep: false,
      glob: false,
    });
    assert.equal(needsApproval("unknown"), true);
  });

  it("runs tools that change something one at a time, and marks the others as safe to replay", () => {
    for (const { name, executionMode, replay } of createTools({ root: "." })) {
      assert.equal(executionMode, needsApproval(name) ? "sequential" : undefined);
      assert.equal(replay, needsApproval(name) ? undefined : "safe");
    }
  });

  it("says in the description of bash that it is not confined", () => {
    const bash = createTools({ root: "." }).find(({ name }) => name === "bash");
    assert.match(bash?.description ?? "", /NOT confined/);
  });

  it("returns only the named tools, in that order, and rejects an unknown name", () => {
    const names = (only: readonly ToolName[]): string[] =>
      createTools({ root: ".", only }).map(({ name }) => name);
    assert.deepEqual(names(["glob", "read"]), ["glob", "read"]);
    assert.deepEqual(names([]), []);
    for (const name of ["Read", "toString", ""])
      refused({ only: [name as ToolName] }, /No tool is named/);
  });

  it("derives the longest time of a call from commandMs and maxCommandMs", () => {
    const described = (limits: ToolsOptions["limits"]): unknown => {
      const [bash] = createTools({ root: ".", only: ["bash"], ...(limits && { limits }) });
      const { properties } = (bash as AgentTool).parameters as {
        properties: { timeout: { maximum: number; description: string } };
      };
      return [
        properties.timeout.maximum,
        /default (\d+)/.exec(properties.timeout.description)?.[1],
      ];
    };
    assert.deepEqual(described(undefined), [3600, "120"]);
    assert.deepEqual(described({ commandMs: 7_200_000 }), [7200, "7200"]);
    assert.deepEqual(described({ maxCommandMs: 60_000 }), [60, "60"]);
  });

  it("rejects invalid limits for every selection of tools", () => {
    for (const value of [0, -1, Number.NaN, Infinity, 2 ** 31]) {
      for (const name of ["commandMs", "maxCommandMs", "searchMs"]) {
        refused(
          { only: ["write"], limits: { [name]: value } },
          new RegExp(`limits\\.${name} must be above 0`),
        );
      }
    }
    for (const value of [0, 99, 100.5, Number.NaN, Infinity])
      refused(
        { limits: { resultCharacters: value } },
        /limits\.resultCharacters must be a whole number of at least 100/,
      );
  });
});

describe("limits", { concurrency: 3 }, () => {
  it("bound the time of a command, and the time a call may request", async (t) => {
    const folder = createFolder(t, { limits: { commandMs: 200, maxCommandMs: 1500 } });
    const { text } = await folder.call("bash", { command: "sleep 60" });
    assert.equal(text, "[no output]\n[timed out after 0.2 s]");
    const [bash] = createTools({
      root: ".",
      only: ["bash"],
      limits: { commandMs: 5000, maxCommandMs: 1500 },
    });
    const { properties } = toJsonSchema(bash?.parameters, "bash") as {
      properties: { timeout: { maximum: number; description: string } };
    };
    assert.deepEqual(
      [properties.timeout.maximum, /default 1\.5\)/.test(properties.timeout.description)],
      [1.5, true],
    );
    // The loop's time limit must not cut off a command that takes the longest allowed time.
    assert.ok((bash?.timeoutMs ?? 0) > 1500);
  });

  it("bound the time of a search", async (t) => {
    const folder = createFolder(t, { limits: { searchMs: 300 } });
    folder.put("a.txt", `${"a".repeat(40)}b\n`);
    folder.put("a".repeat(250), "");
    const why =
      "Error: The search took longer than 0.3 s; narrow the path, the glob or the pattern";
    assert.equal((await folder.call("grep", { pattern: "^(a+)+$" })).text, why);
    assert.equal((await folder.call("glob", { pattern: `${"*a".repeat(20)}b` })).text, why);
  });

  it("bound the text of each result, which says what was cut", async (t) => {
    const folder = createFolder(t, { limits: { resultCharacters: 100 } });
    folder.put("a.txt", `${"x".repeat(19)}\n`.repeat(20));
    for (let index = 10; index < 30; index++) folder.put(`some/folder/${index}.txt`, "");
    const read = await folder.call("read", { path: "a.txt" });
    assert.equal(
      read.text,
      `${`${"x".repeat(19)}\n`.repeat(5)}[lines 1-5 of 20; read on with offset 6]`,
    );
    const bash = await folder.call("bash", { command: "cat a.txt" });
    const path = bash.details["fullOutputPath"] as string;
    const gap = `[300 characters left out here; the full output is in ${path}]`;
    const [head, tail] = [folder.get("a.txt").slice(0, 50), folder.get("a.txt").slice(-50)];
    assert.equal(bash.text, `${head}\n${gap}\n${tail}`);
    const grep = await folder.call("grep", { pattern: "x", path: "a.txt" });
    const hits = [1, 2, 3].map((line) => `a.txt:${line}:${"x".repeat(19)}`);
    assert.equal(grep.text, [...hits, "[3 of more hits shown; narrow the search]"].join("\n"));
    assert.deepEqual(grep.details, { hits: 3, truncated: true });
    const glob = await folder.call("glob", { pattern: "some/**" });
    const shown = [10, 11, 12, 13, 14].map((index) => `some/folder/${index}.txt`);
    assert.equal(glob.text, [...shown, "[5 of 20 shown; narrow the pattern]"].join("\n"));
  });

  it("bound the output of grep and glob also when a call requests everything", async (t) => {
    const folder = createFolder(t);
    const line = `${"y".repeat(300)}\n`;
    folder.put("a".repeat(200), line.repeat(10_000));
    const { text } = await folder.call("grep", { pattern: "y", limit: 10_000 });
    assert.ok(text.length > 3_900_000 && text.length < 4_000_100, `${text.length}`);
    assert.match(text.slice(-100), /\n\[\d+ of more hits shown; narrow the search\]$/);
  });
});

describe("the environment of commands", () => {
  it("contains secrets only if they are allowed by name", async (t) => {
    const env = { PATH: process.env["PATH"], GITHUB_TOKEN: "1", OPENAI_API_KEY: "2", PLAIN: "3" };
    const command = "echo $GITHUB_TOKEN,$OPENAI_API_KEY,$PLAIN";
    assert.equal((await createFolder(t, { env }).call("bash", { command })).text, ",,3\n");
    const allowed = createFolder(t, { env, allowedSecrets: ["GITHUB_TOKEN"] });
    assert.equal((await allowed.call("bash", { command })).text, "1,,3\n");
  });
});

describe("a search", () => {
  it("does not reload the modules that the program preloads", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "x\n");
    const tools = new URL("../../src/tools/index.ts", import.meta.url).href;
    const script = `
      const { createTools } = await import(${JSON.stringify(tools)});
      const [grep] = createTools({ root: ${JSON.stringify(folder.root)}, only: ["grep"] });
      console.log((await grep.execute("1", { pattern: "x" })).content[0].text);`;
    const preloaded = ["--import", 'data:text/javascript,console.log("preloaded")'];
    const args = [
      "--conditions=@bowline/source",
      ...preloaded,
      "--input-type=module",
      "--eval",
      script,
    ];
    const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 30_000 });
    assert.equal(stdout, "preloaded\na.txt:1:x\n");
  });
});

describe("searches of one answer", () => {
  it("share four threads, which end with the last search; an interrupted thread is not reused", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "x\n");
    folder.put("b.txt", `${"a".repeat(40)}b\n`);
    const ended: Promise<unknown>[] = [];
    const note = (worker: Worker): void => void ended.push(once(worker, "exit"));
    process.on("worker", note);
    t.after(() => process.off("worker", note));
    for (const [tool, pattern] of [
      ["glob", "*"],
      ["grep", "x"],
    ] as const) {
      await Promise.all(Array.from({ length: 40 }, () => folder.call(tool, { pattern })));
      assert.equal(ended.splice(0).length, 4, tool);
    }
    const stop = new AbortController();
    const stuck = [1, 2, 3, 4].map(() =>
      folder.call("grep", { pattern: "^(a+)+$" }, { signal: stop.signal }),
    );
    const behind = [1, 2, 3, 4, 5, 6].map(() => folder.call("grep", { pattern: "x" }));
    while (ended.length < 4) await new Promise((resolve) => setImmediate(resolve));
    stop.abort(new Error("enough"));
    for (const { text } of await Promise.all(stuck)) assert.equal(text, "Error: Stopped: enough");
    for (const { text } of await Promise.all(behind)) assert.equal(text, "a.txt:1:x");
    assert.ok(ended.length > 4);
    await Promise.all(ended);
  });
});

describe("tools that are not confined", () => {
  it("read, write and search anywhere, and show outside files by their absolute path", async (t) => {
    const folder = createFolder(t, { confined: false });
    const there = (name: string): string => join(folder.outside, name);
    folder.put("src/a.ts", "inside\n");
    writeFileSync(there("b.ts"), "outside\n");
    writeFileSync(there(".gitignore"), "*.log\n");
    writeFileSync(there("b.log"), "outside\n");
    symlinkSync(folder.outside, folder.at("link"));
    const say = async (name: string, args: object): Promise<string> =>
      (await folder.call(name, args)).text;
    for (const path of [there("b.ts"), "../outside/b.ts", "link/b.ts"]) {
      assert.equal(await say("read", { path }), "outside\n");
    }
    assert.equal(
      await say("write", { path: there("new/c.ts"), content: "c" }),
      `Created ${there("new/c.ts")} (1 byte)`,
    );
    assert.equal(readFileSync(there("new/c.ts"), "utf8"), "c");
    const edited = await say("edit", {
      path: "../outside/b.ts",
      oldText: "outside",
      newText: "edited",
    });
    assert.equal(edited, `Edited ${there("b.ts")}: 1 replacement (first at line 1)`);
    assert.equal(
      await say("grep", { pattern: "edited", path: folder.outside }),
      `${there("b.ts")}:1:edited`,
    );
    assert.equal(
      await say("grep", { pattern: "edited", path: "../outside/b.ts" }),
      `${there("b.ts")}:1:edited`,
    );
    const found = [".gitignore", "b.ts", "new/c.ts"].map(there).join("\n");
    assert.equal(await say("glob", { pattern: "**/*", path: folder.outside }), found);
    assert.equal(
      await say("glob", { pattern: "**/*.ts" }),
      "src/a.ts",
      "what is inside is named as ever",
    );
  });

  it("refuse system folders, paths with ~, and patterns that lead out of the searched folder", async (t) => {
    const folder = createFolder(t, { confined: false });
    mkdirSync(folder.at("src"));
    symlinkSync("/proc/self", folder.at("self"));
    for (const path of ["/proc/self/environ", "/dev/zero", "/sys/power/state", "self/environ"]) {
      const system = `Error: ${path} is in /dev, /proc or /sys, which hold no files`;
      assert.equal((await folder.call("read", { path })).text, system);
      assert.equal((await folder.call("write", { path, content: "" })).text, system);
    }
    assert.match(
      (await folder.call("read", { path: "~/a.txt" })).text,
      /^Error: ~\/a\.txt begins with ~/,
    );
    const patterns = [
      { pattern: "/etc/*" },
      { pattern: "../*" },
      { pattern: "../*", path: folder.outside },
    ];
    for (const args of patterns) {
      const { text } = await folder.call("glob", args);
      assert.match(
        text,
        /^Error: The pattern \S+ leads out of the folder that is searched; name the other one with path$/,
      );
    }
    assert.equal((await folder.call("glob", { pattern: "*", path: "/proc/self" })).isError, true);
  });

  it("accept a working directory inside a system folder", async (t) => {
    const shared = "/dev/shm";
    if (!existsSync(shared)) return t.skip("no /dev/shm");
    const root = mkdtempSync(join(shared, "bowline-tools-"));
    t.after(() => rmSync(root, { recursive: true }));
    writeFileSync(join(root, "a.txt"), "text\n");
    for (const confined of [true, false]) {
      const tools = new Map(createTools({ root, confined }).map((tool) => [tool.name, tool]));
      const text = async (name: string, args: object): Promise<unknown> =>
        (await tools.get(name)?.execute("1", args))?.content?.[0];
      assert.deepEqual(await text("read", { path: "a.txt" }), { type: "text", text: "text\n" });
      assert.deepEqual(await text("grep", { pattern: "text" }), {
        type: "text",
        text: "a.txt:1:text",
      });
      assert.match(
        JSON.stringify(await text("write", { path: "new/b.txt", content: "" })),
        /(?:Created|Replaced) new\/b\.txt/,
      );
    }
  });

  it("describe themselves as not confined", () => {
    const whole = createTools({
      root: ".",
      confined: false,
      only: ["read", "write", "edit", "grep", "glob"],
    });
    for (const { name, description } of whole) {
      assert.doesNotMatch(description, /inside the working directory/, name);
      assert.match(description, /by an absolute path, anywhere/, name);
    }
    for (const { name, description } of createTools({ root: "." }))
      if (name !== "bash") assert.match(description, /inside the working directory/, name);
  });
});
