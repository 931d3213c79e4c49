import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { describe, it } from "node:test";
import fc from "fast-check";
import { listPaths } from "../../src/tools/find-paths.ts";
import { SearchQueue } from "../../src/tools/search-queue.ts";
import { asNobody } from "./as-nobody.ts";
import { createFolder, type Folder } from "./folder.ts";
import { sweep } from "../../../../test/support/sweep.ts";

const glob = async (folder: Folder, pattern: string, more: object = {}): Promise<string[]> =>
  (await folder.call("glob", { pattern, ...more })).text.split("\n");

describe("glob", { concurrency: 2 }, () => {
  it("lists files, sorted by code unit", async (t) => {
    const folder = createFolder(t);
    for (const path of [
      "b.ts",
      "a.ts",
      "B.ts",
      "é.ts",
      "src/a.ts",
      "a-b/c.ts",
      "a.md",
      ".hidden.ts",
    ])
      folder.put(path, "");
    assert.deepEqual(await glob(folder, "*.ts"), [".hidden.ts", "B.ts", "a.ts", "b.ts", "é.ts"]);
    const all = [".hidden.ts", "B.ts", "a-b/c.ts", "a.ts", "b.ts", "src/a.ts", "é.ts"];
    assert.deepEqual(await glob(folder, "**/*.ts"), all);
    assert.deepEqual((await folder.call("glob", { pattern: "**/*.ts" })).details, { total: 7 });
    assert.deepEqual(await glob(folder, "./src/../{a,b}.{ts,md}"), ["a.md", "a.ts", "b.ts"]);
  });

  it("lists folders with a slash at the end", async (t) => {
    const folder = createFolder(t);
    folder.put("src/deep/a.ts", "");
    folder.put("b.ts", "");
    assert.deepEqual(await glob(folder, "*", { kind: "directory" }), ["src/"]);
    assert.deepEqual(await glob(folder, "**", { kind: "directory" }), ["src/", "src/deep/"]);
    assert.deepEqual(await glob(folder, "*", { kind: "any" }), ["b.ts", "src/"]);
    assert.deepEqual(await glob(folder, "**/*", { kind: "any" }), [
      "b.ts",
      "src/",
      "src/deep/",
      "src/deep/a.ts",
    ]);
    assert.deepEqual(await glob(folder, "src", { kind: "any" }), ["src/"]);
    assert.deepEqual(await glob(folder, "src"), ["[no matches]"]);
  });

  it("searches a subfolder and returns paths relative to the working directory", async (t) => {
    const folder = createFolder(t);
    folder.put("src/a.ts", "");
    folder.put("src/deep/b.ts", "");
    assert.deepEqual(await glob(folder, "**/*", { path: "./src/" }), ["src/a.ts", "src/deep/b.ts"]);
    assert.deepEqual(await glob(folder, "*.ts", { path: folder.at("src") }), ["src/a.ts"]);
    assert.deepEqual(await glob(folder, "src/*", { path: "" }), ["src/a.ts"]);
    assert.deepEqual(await glob(folder, "../*.ts", { path: "src/deep" }), ["src/a.ts"]);
    const outside = `Error: ../../*.ts is outside the working directory ${folder.root}`;
    assert.deepEqual(await glob(folder, "../../*.ts", { path: "src" }), [outside]);
  });

  it("prints sizes before a tab, 0 for folders", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "12345");
    folder.put("src/b.txt", "é");
    const lines = await glob(folder, "**/*", { kind: "any", sizes: true });
    assert.deepEqual(lines, ["5\ta.txt", "0\tsrc/", "2\tsrc/b.txt"]);
  });

  it("says how many matches there are when it lists fewer", async (t) => {
    const folder = createFolder(t);
    for (let index = 0; index < 12; index++) folder.put(`${index + 10}.txt`, "");
    const lines = await glob(folder, "*", { limit: 3 });
    assert.deepEqual(lines, ["10.txt", "11.txt", "12.txt", "[3 of 12 shown; narrow the pattern]"]);
    assert.equal((await glob(folder, "*", { limit: 12 })).length, 12);
  });

  it("skips .git, node_modules and files ignored by .gitignore, nested ones too", async (t) => {
    const folder = createFolder(t);
    const paths = [
      "a.log",
      "keep.log",
      "dist/x",
      "src/dist/y",
      "src/a.tmp",
      "src/b.ts",
      "src/sub/a.tmp",
      "src/sub/keep.tmp",
    ];
    for (const path of [
      ...paths,
      ".git/HEAD",
      "node_modules/p/i.js",
      "src/node_modules/q/i.js",
      "A.LOG",
    ])
      folder.put(path, "");
    folder.put(".gitignore", "*.log\n!keep.log\n/dist/\n");
    folder.put("src/.gitignore", "*.tmp\n");
    folder.put("src/sub/.gitignore", "!keep.tmp\n");
    const expected = [
      ".gitignore",
      "A.LOG",
      "keep.log",
      "src/.gitignore",
      "src/b.ts",
      "src/dist/y",
    ];
    assert.deepEqual(await glob(folder, "**/*"), [
      ...expected,
      "src/sub/.gitignore",
      "src/sub/keep.tmp",
    ]);
    assert.deepEqual(await glob(folder, "dist/*"), ["[no matches]"]);
    assert.deepEqual(await glob(folder, "node_modules/**"), ["[no matches]"]);
    assert.deepEqual(await glob(folder, "*.tmp", { path: "src" }), ["[no matches]"]);
  });

  it("lists a folder that one .gitignore ignores and a deeper one includes again", async (t) => {
    const folder = createFolder(t);
    for (const path of [
      "lib/a.ts",
      "web/lib/b.ts",
      "web/lib/c.log",
      "web/lib/[x]\\y/d.ts",
      "web/other/lib/e.ts",
    ])
      folder.put(path, "");
    folder.put(".gitignore", "lib\n*.log\n");
    folder.put("web/.gitignore", "!/lib/\n");
    const expected = [".gitignore", "web/.gitignore", "web/lib/[x]\\y/d.ts", "web/lib/b.ts"];
    assert.deepEqual(await glob(folder, "**/*"), expected);
  });

  it("reads a .gitignore with a byte order mark and CRLF as git does", async (t) => {
    const folder = createFolder(t);
    for (const path of ["dist/a.js", "a.log", "a.ts"]) folder.put(path, "");
    folder.put(".gitignore", "\uFEFFdist\r\n*.log\r\n");
    assert.deepEqual(await glob(folder, "**/*"), [".gitignore", "a.ts"]);
  });

  it("lists names that consist only of dots", async (t) => {
    const folder = createFolder(t);
    for (const path of ["...", "src/.../a.ts", "src/...."]) folder.put(path, "");
    const all = ["...", "src/", "src/....", "src/.../", "src/.../a.ts"];
    assert.deepEqual(await glob(folder, "**/*", { kind: "any" }), all);
  });

  it("treats a name that starts with two dots as a name, not as the parent folder", async (t) => {
    const folder = createFolder(t);
    for (const path of ["...", "..a", "..b/c", "src/..."]) folder.put(path, "");
    const found = {
      "...": "...",
      "..a": "..a",
      "..*": "...\n..a",
      "..b/*": "..b/c",
      "..*/c": "..b/c",
      "src/...": "src/...",
    };
    for (const [pattern, paths] of Object.entries(found))
      assert.equal((await folder.call("glob", { pattern })).text, paths, pattern);
    assert.equal((await folder.call("glob", { pattern: "...", path: "src" })).text, "src/...");
    assert.match(
      (await folder.call("glob", { pattern: "../*" })).text,
      /outside the working directory/,
    );
  });

  it("reports a folder that was removed before the search started", async (t) => {
    const folder = createFolder(t);
    const place = {
      root: folder.root,
      reach: folder.root,
      base: folder.at("src"),
      prefix: "src/",
      hidden: [],
    };
    const limits = { limit: 10, characters: 1000 };
    const { signal } = new AbortController();
    const jobs = [
      { type: "glob", pattern: "*", kind: "file", sizes: false, ...place, ...limits },
      {
        type: "grep",
        source: "x",
        flags: "u",
        glob: undefined,
        isFile: false,
        ...place,
        ...limits,
      },
    ] as const;
    for (const job of jobs)
      await assert.rejects(new SearchQueue().search(job, { signal }), {
        message: "Error: No such folder: src/",
      });
  });

  it("searches an ignored folder that the path names", async (t) => {
    const folder = createFolder(t);
    folder.put("node_modules/p/i.js", "");
    folder.put("node_modules/p/node_modules/q/i.js", "");
    folder.put("dist/a.js", "");
    folder.put(".gitignore", "dist\n");
    assert.deepEqual(await glob(folder, "**/*", { path: "node_modules/p" }), [
      "node_modules/p/i.js",
    ]);
    assert.deepEqual(await glob(folder, "**/*", { path: "dist" }), ["dist/a.js"]);
  });

  it("lists links to files inside, and does not follow links to folders", async (t) => {
    const folder = createFolder(t);
    folder.put("src/a.ts", "12");
    symlinkSync("src/a.ts", folder.at("link.ts"));
    symlinkSync("src", folder.at("folder"));
    symlinkSync("..", folder.at("src/up"));
    assert.deepEqual(await glob(folder, "**/*", { sizes: true }), ["2\tlink.ts", "2\tsrc/a.ts"]);
    assert.deepEqual(await glob(folder, "*", { path: "folder" }), ["folder/a.ts"]);
  });

  it("matches escaped special characters in names, and shows line breaks escaped", async (t) => {
    const folder = createFolder(t);
    for (const name of ["[id].ts", "(x)!.ts", "a\nb.ts"]) folder.put(name, "");
    assert.deepEqual(await glob(folder, String.raw`\[id\].ts`), ["[id].ts"]);
    assert.deepEqual(await glob(folder, String.raw`**/\(x\)\!.ts`), ["(x)!.ts"]);
    assert.deepEqual(await glob(folder, "a*"), [String.raw`a\nb.ts`]);
  });

  it("can be aborted while a catastrophic pattern is matched", async (t) => {
    const folder = createFolder(t);
    folder.put("a".repeat(250), "");
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error("enough")), 400);
    const started = Date.now();
    const pattern = `${"*a".repeat(20)}b`;
    assert.equal(
      (await folder.call("glob", { pattern }, { signal: controller.signal })).text,
      "Error: Stopped: enough",
    );
    assert.ok(Date.now() - started < 30_000);
  });

  it("refuses an empty pattern", async (t) => {
    const folder = createFolder(t);
    mkdirSync(folder.at("src"));
    assert.deepEqual(await glob(folder, ""), ["Error: The pattern is empty"]);
  });
});

describe("files that a search cannot read or ignores", () => {
  it("are listed without sizes when their folder cannot be searched", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "12345");
    folder.put("closed/b.txt", "1");
    chmodSync(folder.at("closed"), 0o444);
    const lines = await asNobody(folder, () => glob(folder, "**/*", { sizes: true }));
    chmodSync(folder.at("closed"), 0o755);
    assert.deepEqual(lines, ["5\ta.txt", "?\tclosed/b.txt"]);
  });

  it("are ignored exactly as by git, for any .gitignore files", (t) => {
    if (spawnSync("git", ["--version"]).status !== 0) return t.skip("no git");
    const folder = createFolder(t);
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
    const git = (...args: string[]): string =>
      execFileSync("git", ["-C", folder.root, ...args], { encoding: "utf8", env });
    const name = fc.constantFrom(
      "a",
      "b",
      "A",
      "ab",
      "a b",
      "b ",
      "\\a",
      "!a",
      "#a",
      "[ab]",
      "..a",
      "...",
      "x.log",
    );
    const wild = [
      "*",
      "**",
      "?",
      "[ab]",
      "[!a]",
      "[a-c]",
      "[",
      "*.log",
      "*a*",
      "\\",
      "\\a",
      "\\!a",
      "b\\ ",
      "b  ",
    ];
    const part = fc.oneof({ arbitrary: name, weight: 4 }, fc.constantFrom(...wild));
    const line = fc
      .tuple(
        fc.constantFrom("", "", "!"),
        fc.constantFrom("", "", "/", "**/"),
        fc.array(part, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("", "", "/", "/*", "/**"),
      )
      .map(([not, start, parts, end]) => not + start + parts.join("/") + end);
    const rules = fc
      .array(line, { minLength: 1, maxLength: 4 })
      .map((lines) => `${lines.join("\n")}\n`);
    const files = fc.array(fc.array(name, { minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 6,
    });
    const ignores = fc.array(fc.tuple(fc.array(name, { maxLength: 2 }), rules), {
      minLength: 1,
      maxLength: 3,
    });
    const tryPut = (path: string, content: string): void => {
      try {
        folder.put(path, content);
      } catch {
        // a file or folder of that name exists
      }
    };
    git("init", "--quiet");
    fc.assert(
      fc.property(files, ignores, (paths, ruleFiles) => {
        for (const entry of git("ls-files", "--others", "--directory", "-z").split("\0"))
          if (entry !== "") rmSync(folder.at(entry), { recursive: true });
        for (const path of paths) tryPut(path.join("/"), "");
        for (const [path, text] of ruleFiles) tryPut([...path, ".gitignore"].join("/"), text);
        const listed = git("ls-files", "--others", "--exclude-standard", "-z")
          .split("\0")
          .filter(Boolean)
          .toSorted();
        const place = {
          root: folder.root,
          reach: folder.root,
          base: folder.root,
          prefix: "",
          hidden: [],
        };
        const found = listPaths(place, { patterns: ["**/*"], kind: "file", withLinks: false });
        assert.deepEqual(found, listed);
      }),
      { numRuns: sweep({ long: 100, short: 25 }) },
    );
  });
});
