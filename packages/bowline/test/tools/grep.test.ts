import assert from "node:assert/strict";
import { readdirSync, symlinkSync, truncateSync } from "node:fs";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createTools } from "../../src/tools/index.ts";
import { SearchQueue } from "../../src/tools/search-queue.ts";
import { createFolder, type Outcome } from "./folder.ts";
import { isLinux } from "./processes.ts";

describe("grep", { concurrency: 2 }, () => {
  it("prints one hit per line, sorted by path", async (t) => {
    const folder = createFolder(t);
    folder.put("b.ts", "const x = 1;\r\nlet y;\nconst z = 2;");
    folder.put("a/deep/c.ts", "\uFEFFconst w = 0;\n");
    folder.put("B.md", "const\n");
    const { text, details } = await folder.call("grep", { pattern: "^const\\b" });
    const hits = [
      "B.md:1:const",
      "a/deep/c.ts:1:const w = 0;",
      "b.ts:1:const x = 1;",
      "b.ts:3:const z = 2;",
    ];
    assert.equal(text, hits.join("\n"));
    assert.deepEqual(details, { hits: 4, truncated: false });
  });

  it("says when there are no matches", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "one\n");
    assert.equal((await folder.call("grep", { pattern: "two" })).text, "[no matches]");
    assert.equal(
      (await folder.call("grep", { pattern: "^$" })).text,
      "[no matches]",
      "no line after the last line feed",
    );
  });

  it("ignores case or takes the pattern literally on request", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "a.b(c)/[d]-{e}\nA.B(C)\naxb\n");
    const grep = async (args: object): Promise<string> =>
      (await folder.call("grep", { path: "a.txt", ...args })).text;
    assert.equal(
      await grep({ pattern: "a.b(c)/[d]-{e}", literal: true }),
      "a.txt:1:a.b(c)/[d]-{e}",
    );
    assert.equal(
      await grep({ pattern: "a.b(", literal: true, ignoreCase: true }),
      "a.txt:1:a.b(c)/[d]-{e}\na.txt:2:A.B(C)",
    );
    assert.equal(await grep({ pattern: "a.b$", ignoreCase: true }), "a.txt:3:axb");
  });

  it("accepts Unicode classes and unnecessary escapes", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "é-x\n");
    assert.equal((await folder.call("grep", { pattern: "^\\p{L}-" })).text, "a.txt:1:é-x");
    assert.equal((await folder.call("grep", { pattern: "\\-x" })).text, "a.txt:1:é-x");
  });

  it("searches one folder or one file, and files selected by a glob", async (t) => {
    const folder = createFolder(t);
    for (const path of ["a.ts", "src/b.ts", "src/c.md", "src/deep/d.ts"]) folder.put(path, "x\n");
    const grep = async (args: object): Promise<string[]> =>
      (await folder.call("grep", { pattern: "x", ...args })).text
        .split("\n")
        .map((line) => line.replace(":1:x", ""));
    assert.deepEqual(await grep({ path: "src" }), ["src/b.ts", "src/c.md", "src/deep/d.ts"]);
    assert.deepEqual(await grep({ path: "./src/b.ts" }), ["src/b.ts"]);
    assert.deepEqual(await grep({ path: "" }), ["a.ts", "src/b.ts", "src/c.md", "src/deep/d.ts"]);
    assert.deepEqual(await grep({ glob: "*.ts" }), ["a.ts", "src/b.ts", "src/deep/d.ts"]);
    assert.deepEqual(await grep({ glob: "src/*.ts" }), ["src/b.ts"]);
    assert.deepEqual(await grep({ path: "src", glob: "*.{ts,md}" }), [
      "src/b.ts",
      "src/c.md",
      "src/deep/d.ts",
    ]);
    assert.deepEqual(await grep({ glob: "!*.ts" }), ["src/c.md"]);
  });

  it("cuts long lines at 300 characters", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", `${"x".repeat(400)}\n${"y".repeat(298)}🎉x\n`);
    const [first = "", second = ""] = (await folder.call("grep", { pattern: "^." })).text.split(
      "\n",
    );
    assert.equal(first, `a.txt:1:${"x".repeat(299)}…`);
    assert.equal(second, `a.txt:2:${"y".repeat(298)}…`);
  });

  it("shows the part of a long line that matches", async (t) => {
    const folder = createFolder(t);
    folder.put("a.min.js", `${"y".repeat(999)}🎉${"z".repeat(99)}needle${"w".repeat(300)}\n`);
    const { text } = await folder.call("grep", { pattern: "needle" });
    // A hundred characters before the match would begin in the middle of a surrogate pair.
    assert.equal(text, `a.min.js:1:…${"z".repeat(99)}needle${"w".repeat(193)}…`);
  });

  it("stops at the limit and says that there are more hits", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "x\n".repeat(201));
    const { text, details } = await folder.call("grep", { pattern: "x" });
    const lines = text.split("\n");
    assert.equal(lines.length, 201);
    assert.equal(lines.at(-1), "[200 of more hits shown; narrow the search]");
    assert.deepEqual(details, { hits: 200, truncated: true });
    folder.put("a.txt", "x\n".repeat(3));
    assert.equal(
      (await folder.call("grep", { pattern: "x", limit: 3 })).text,
      "a.txt:1:x\na.txt:2:x\na.txt:3:x",
    );
  });

  it("skips binary files, files above 5 MB, links, .git, node_modules and ignored files", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "x\n");
    folder.put("data", "x\n\0");
    folder.put("just-fits.txt", `x\n${"y".repeat(5 * 2 ** 20 - 2)}`);
    truncateSync(folder.put("big.txt", `x\n${"y".repeat(9000)}`), 5 * 2 ** 20 + 1);
    symlinkSync("a.txt", folder.at("link.txt"));
    for (const path of [
      ".git/config",
      "node_modules/p/i.js",
      "sub/node_modules/p/i.js",
      "dist/o.js",
    ])
      folder.put(path, "x\n");
    folder.put("latin.txt", Buffer.from("caf\u00e9 x\n", "latin1"));
    folder.put(".env", "x=1\n");
    folder.put(".gitignore", "dist/\n");
    const { text } = await folder.call("grep", { pattern: "x" });
    assert.deepEqual(
      text.split("\n").map((line) => line.split(":")[0]),
      [".env", "a.txt", "just-fits.txt", "latin.txt"],
    );
  });

  it("reports a named file that it does not search", async (t) => {
    const folder = createFolder(t);
    folder.put("data", "x\n\0");
    truncateSync(folder.put("big.txt", `x\n${"y".repeat(9000)}`), 5 * 2 ** 20 + 1);
    folder.put("dist/o.js", "x\n");
    folder.put(".gitignore", "dist/\n");
    const grep = async (path: string): Promise<string> =>
      (await folder.call("grep", { pattern: "x", path })).text;
    assert.equal(await grep("data"), "Error: data is not a text file (binary data, 3 bytes)");
    assert.match(
      await grep("big.txt"),
      /^Error: big\.txt has 5242881 bytes; grep takes files of at most 5242880/,
    );
    assert.equal(await grep("dist/o.js"), "dist/o.js:1:x");
    assert.equal(await grep("dist"), "dist/o.js:1:x");
  });

  it("reports a named file that was removed or became binary before the search started", async (t) => {
    const folder = createFolder(t);
    const place = {
      root: folder.root,
      reach: folder.root,
      prefix: "a.txt",
      isFile: true,
      hidden: [],
    };
    const limits = { glob: undefined, limit: 1, characters: 1000 };
    const job = {
      type: "grep",
      source: "x",
      flags: "u",
      base: folder.at("a.txt"),
      ...place,
      ...limits,
    } as const;
    const { signal } = new AbortController();
    const changed = {
      message: "Error: a.txt was changed by something else meanwhile; read it again",
    };
    await assert.rejects(new SearchQueue().search(job, { signal }), changed);
    folder.put("a.txt", "x\n\0");
    await assert.rejects(new SearchQueue().search(job, { signal }), changed);
    truncateSync(folder.put("a.txt", `x\n${"y".repeat(9000)}`), 5 * 2 ** 20 + 1);
    await assert.rejects(new SearchQueue().search(job, { signal }), changed);
  });

  it("skips a file that can be opened but not read", { skip: !isLinux && "no /proc" }, async () => {
    const [grep] = createTools({ root: "/proc/self", only: ["grep"] });
    const found = await grep?.execute("1", { pattern: "^", glob: "{comm,mem}" });
    assert.match(JSON.stringify(found?.content), /"comm:1:[^"]+"\}\]$/);
    await assert.rejects(async () => grep?.execute("1", { pattern: "^", path: "mem" }), {
      message: "Error: Could not use mem: EIO",
    });
  });

  it("explains an invalid pattern", async (t) => {
    const folder = createFolder(t);
    const grep = async (pattern: string): Promise<string> =>
      (await folder.call("grep", { pattern })).text;
    assert.match(
      await grep("a("),
      /^Error: Invalid regular expression: .*Unterminated group.*literal for plain text$/,
    );
    assert.equal(await grep(""), "Error: The pattern is empty");
    assert.match(await grep("a\nb"), /^Error: The pattern contains a line break/);
    const none = String.raw`[no matches; lines are searched one by one, so \n in the pattern matches nothing]`;
    for (const pattern of ["a\\n", "(\\r\\n)b", "a\\\\\\n"])
      assert.equal(await grep(pattern), none);
    for (const pattern of ["a[^\\n]", "a\\\\n"]) assert.equal(await grep(pattern), "[no matches]");
  });

  it("can be aborted while a catastrophic pattern runs, and does not block the process", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", `${"a".repeat(40)}b\n`);
    const controller = new AbortController();
    let ticks = 0;
    const timer = setInterval(() => {
      if (++ticks === 40) controller.abort(new Error("The run was aborted."));
    }, 10);
    const started = Date.now();
    const { text } = await folder.call(
      "grep",
      { pattern: "^(a+)+$" },
      { signal: controller.signal },
    );
    clearInterval(timer);
    assert.equal(text, "Error: Stopped: The run was aborted.");
    assert.ok(Date.now() - started < 30_000);
  });

  it("rejects queued calls when they are aborted", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", `${"a".repeat(40)}b\n`);
    const [endless, soon] = [new AbortController(), new AbortController()];
    const grep = (pattern: string, { signal }: AbortController): Promise<Outcome> =>
      folder.call("grep", { pattern }, { signal });
    const running = Array.from({ length: 4 }, () => grep("^(a+)+$", endless));
    const waiting = Array.from({ length: 5 }, () => grep("b", soon));
    await sleep(50);
    soon.abort(new Error("enough"));
    const stopped = await Promise.all(waiting);
    assert.deepEqual([...new Set(stopped.map(({ text }) => text))], ["Error: Stopped: enough"]);
    const last = grep("b", new AbortController());
    endless.abort(new Error("all of it"));
    assert.equal((await last).text, `a.txt:1:${"a".repeat(40)}b`);
    for (const { text } of await Promise.all(running))
      assert.equal(text, "Error: Stopped: all of it");
  });

  it("ends at its time limit", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", `${"a".repeat(40)}b\n`);
    const place = {
      root: folder.root,
      reach: folder.root,
      hidden: [],
      base: folder.root,
      prefix: "",
      isFile: false,
    };
    const limits = { glob: undefined, limit: 1, characters: 1000 };
    const job = { type: "grep", source: "^(a+)+$", flags: "u", ...place, ...limits } as const;
    const { signal } = new AbortController();
    await assert.rejects(new SearchQueue().search(job, { signal, timeLimitMs: 300 }), {
      message: "Error: The search took longer than 0.3 s; narrow the path, the glob or the pattern",
    });
  });
});

// This test counts the threads of the whole process.
describe("grep, one by one", () => {
  it("runs four calls of one answer at a time", { skip: !isLinux && "no /proc" }, async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "x\n");
    const threads = (): number => readdirSync("/proc/self/task").length;
    await folder.call("grep", { pattern: "x" });
    const before = threads();
    let most = 0;
    const timer = setInterval(() => (most = Math.max(most, threads())), 1);
    const found = await Promise.all(
      Array.from({ length: 16 }, () => folder.call("grep", { pattern: "x" })),
    );
    clearInterval(timer);
    assert.ok(found.every(({ text }) => text === "a.txt:1:x"));
    // A thread that has answered may still be ending.
    assert.ok(most > before && most <= before + 12, `${most - before} threads`);
  });
});
