import assert from "node:assert/strict";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Worker } from "node:worker_threads";
import { isBowlineError, type JsonSchema } from "@bowline/core";
import fc from "fast-check";
import { createTools } from "../../src/tools/index.ts";
import { createWorkspace, resolveInside } from "../../src/tools/workspace.ts";
import { asNobody } from "./as-nobody.ts";
import { createFolder, type Folder } from "./folder.ts";
import { sweep } from "../../../../test/support/sweep.ts";

/** One call of each file tool that takes a path, with this path. */
const calls = (path: string): readonly (readonly [string, object])[] => [
  ["read", { path }],
  ["write", { path, content: "stolen" }],
  ["edit", { path, oldText: "secret", newText: "stolen" }],
  ["grep", { path, pattern: "secret" }],
  ["glob", { path, pattern: "**/*" }],
];

/** Prepares a working directory with every kind of path that leads out, and returns the paths. */
function waysOut(folder: Folder): string[] {
  const { root, outside } = folder;
  writeFileSync(join(outside, "secret.txt"), "secret");
  mkdirSync(folder.at("sub"));
  mkdirSync(`${root}-twin`);
  writeFileSync(`${root}-twin/secret.txt`, "secret");
  symlinkSync(join(outside, "secret.txt"), folder.at("file-link"));
  symlinkSync(outside, folder.at("folder-link"));
  symlinkSync("../outside", folder.at("relative-link"));
  symlinkSync("folder-link/secret.txt", folder.at("link-to-link"));
  symlinkSync(join(outside, "missing.txt"), folder.at("dangling-link"));
  symlinkSync("../outside/deep/missing.txt", folder.at("dangling-deep-link"));
  symlinkSync("dangling-link", folder.at("link-to-dangling"));
  symlinkSync("../../outside", folder.at("sub/up"));
  symlinkSync("/", folder.at("slash"));
  return [
    "..",
    "../outside/secret.txt",
    "sub/../../outside/secret.txt",
    "./sub/./../../outside/secret.txt",
    "../root-twin/secret.txt",
    `${root}-twin/secret.txt`,
    join(outside, "secret.txt"),
    `${root}/../outside/secret.txt`,
    "/",
    "/etc/passwd",
    "/etc/missing",
    "/dev/zero",
    "/proc/self/environ",
    "//etc/passwd",
    "~",
    "~/secret.txt",
    "file-link",
    "file-link/more",
    "folder-link",
    "folder-link/secret.txt",
    "folder-link/missing/new.txt",
    "relative-link/secret.txt",
    "link-to-link",
    "dangling-link",
    "dangling-deep-link",
    "link-to-dangling",
    "sub/up/secret.txt",
    "slash/etc/passwd",
    "slash/etc/passwd/more",
    `slash${outside}/secret.txt`,
  ];
}

describe("confinement of the file tools", () => {
  it("is tested with every tool that takes a path", () => {
    const takesPath = createTools({ root: "." }).filter(({ parameters }) =>
      Object.hasOwn((parameters as JsonSchema).properties ?? {}, "path"),
    );
    assert.deepEqual(
      calls(".").map(([name]) => name),
      takesPath.map(({ name }) => name),
    );
  });

  it("refuses every path that leads out with one fixed line, and changes nothing", async (t) => {
    const folder = createFolder(t);
    for (const path of waysOut(folder)) {
      for (const [tool, args] of calls(path)) {
        const { text, isError } = await folder.call(tool, args);
        assert.ok(isError, `${tool} ${path}`);
        assert.equal(text, `Error: ${path} is outside the working directory ${folder.root}`, tool);
      }
    }
    assert.deepEqual(readdirSync(folder.outside), ["secret.txt"]);
  });

  it("refuses patterns that lead out, or finds nothing with them", async (t) => {
    const folder = createFolder(t);
    waysOut(folder);
    for (const pattern of ["../*", "sub/../../outside/*", "/etc/*", `${folder.outside}/*`, ".."]) {
      const { text } = await folder.call("glob", { pattern });
      assert.equal(text, `Error: ${pattern} is outside the working directory ${folder.root}`);
    }
    const quiet = [
      "\\../*",
      "\\.\\./outside/*",
      "{..,../..}/*",
      "{../outside/,}secret*",
      "@(..)/outside/*",
    ];
    const links = ["folder-link/*", "sub/up/*", "slash/etc/p*", "**/secret.txt", "[.][.]/*"];
    const search = async (pattern: string): Promise<void> => {
      const searches = [
        folder.call("glob", { pattern, kind: "any" }),
        folder.call("grep", { pattern: "s", glob: pattern }),
      ];
      for (const { text } of await Promise.all(searches))
        assert.equal(text, "[no matches]", pattern);
    };
    await Promise.all([...quiet, ...links].map(search));
  });

  it("lists no names behind links that lead out", async (t) => {
    const folder = createFolder(t);
    waysOut(folder);
    assert.equal((await folder.call("glob", { pattern: "**/*", kind: "any" })).text, "sub/");
  });

  it("accepts absolute paths inside, by both names of the working directory", async (t) => {
    const folder = createFolder(t);
    folder.put("src/a.ts", "text");
    symlinkSync(folder.root, join(folder.outside, "alias"));
    const alias = join(folder.outside, "alias");
    const tools = createTools({ root: alias });
    const read = tools.find(({ name }) => name === "read");
    for (const path of ["src/a.ts", join(alias, "src/a.ts"), folder.at("src/a.ts")]) {
      assert.deepEqual(await read?.execute("1", { path }), {
        content: [{ type: "text", text: "text" }],
        details: { path: "src/a.ts", bytes: 4, lines: 1 },
      });
    }
    await assert.rejects(async () => read?.execute("1", { path: "../x" }), {
      message: `Error: ../x is outside the working directory ${alias}`,
    });
    // The other tools do not know that name, and accept only paths below the working directory.
    const elsewhere = await folder.call("read", { path: join(alias, "src/a.ts") });
    assert.equal(
      elsewhere.text,
      `Error: ${join(alias, "src/a.ts")} is outside the working directory ${folder.root}`,
    );
    const globbed = await folder.call("glob", { pattern: folder.at("src/*.ts") });
    assert.equal(globbed.text, "src/a.ts");
  });

  it("refuses invalid paths", async (t) => {
    const folder = createFolder(t);
    const long = "x".repeat(300);
    const cases: readonly (readonly [string, string])[] = [
      ["", "Error: The path is empty"],
      ["a\0b", String.raw`Error: The path contains a NUL byte: a\x00b`],
      ["a\uD800", String.raw`Error: The path is not valid text: a\u{d800}`],
      [long, `Error: The name is too long: ${"x".repeat(199)}…`],
      ["y/".repeat(2100), `Error: The path is too long (4200 characters): ${"y/".repeat(99)}y…`],
    ];
    for (const [path, message] of cases) {
      assert.equal((await folder.call("read", { path })).text, message);
      assert.equal((await folder.call("write", { path, content: "" })).text, message);
    }
  });

  it("escapes control characters in names", async (t) => {
    const folder = createFolder(t);
    const { text } = await folder.call("read", { path: "a\u001b[2Jb\nc\u202e" });
    assert.equal(text, String.raw`Error: No such file: a\x1b[2Jb\nc\u{202e}`);
  });

  it("says on one line what blocks a path", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "");
    symlinkSync("loop", folder.at("loop"));
    const say = async (tool: string, path: string): Promise<string> =>
      (await folder.call(tool, { path, pattern: "x" })).text;
    assert.equal(
      await say("read", "a.txt/b"),
      "Error: a.txt/b leads through a file as if it were a folder",
    );
    assert.equal(await say("read", "loop"), "Error: loop leads through symbolic links in a circle");
    assert.equal(await say("glob", "missing"), "Error: No such folder: missing");
    assert.equal(await say("glob", "a.txt"), "Error: a.txt is not a folder; glob searches folders");
    assert.equal(await say("grep", "missing"), "Error: No such file or folder: missing");
  });

  it("refuses files without read permission", async (t) => {
    const folder = createFolder(t);
    folder.put("closed/a.txt", "secret");
    chmodSync(folder.put("private.txt", "secret"), 0o000);
    chmodSync(folder.at("closed"), 0o000);
    await asNobody(folder, async () => {
      for (const path of ["private.txt", "closed/a.txt"]) {
        for (const [tool, args] of calls(path).slice(0, 4)) {
          const { text } = await folder.call(tool, args);
          if (tool === "write" && path === "private.txt" && process.getuid?.() === 0) continue; // access() checks the real user
          assert.equal(text, `Error: Permission denied: ${path}`, tool);
        }
      }
      // A search of everything skips what it cannot read.
      assert.equal((await folder.call("grep", { pattern: "secret" })).text, "[no matches]");
    });
    chmodSync(folder.at("closed"), 0o755);
  });

  it("refuses pipes, devices and sockets without opening them", { timeout: 60_000 }, async (t) => {
    const folder = createFolder(t);
    await folder.call("bash", { command: "mkfifo pipe" });
    const server = createServer();
    await new Promise<void>((done) => void server.listen(folder.at("socket"), done));
    t.after(() => server.close());
    const kinds = new Map([
      ["pipe", "a named pipe"],
      ["socket", "a socket"],
    ]);
    if (process.getuid?.() === 0) {
      await folder.call("bash", { command: "mknod device c 1 5" });
      kinds.set("device", "a device");
    }
    for (const [path, kind] of kinds) {
      for (const [tool, args] of calls(path).slice(0, 4)) {
        const { text } = await folder.call(tool, args);
        assert.equal(text, `Error: ${path} is ${kind}, not a regular file`, tool);
      }
    }
    await folder.call("bash", { command: "mkfifo .gitignore" });
    assert.equal((await folder.call("glob", { pattern: "*" })).text, "[no matches]");
    assert.equal((await folder.call("grep", { pattern: "." })).text, "[no matches]");
  });

  it(
    "never writes or reads outside while a folder is being swapped for a link",
    { timeout: 60_000 },
    async (t) => {
      const folder = createFolder(t);
      folder.put("real/a.txt", "inside");
      writeFileSync(join(folder.outside, "a.txt"), "secret");
      writeFileSync(join(folder.outside, "secret-name.txt"), "");
      symlinkSync(folder.outside, folder.at("link"));
      // "folder" alternates between missing, a folder and a link that leads out. A write may create
      // it meanwhile.
      const swapper = new Worker(
        `const { renameSync, rmSync } = require("node:fs");
       const at = (name) => require("node:worker_threads").workerData + "/" + name;
       for (;;) {
         for (const name of ["real", "link"]) {
           try { renameSync(at(name), at("folder")); renameSync(at("folder"), at(name)); }
           catch {
             // The tools race for the folder. A removal that fails now is repeated in a later
             // round.
             try { rmSync(at("folder"), { recursive: true, force: true }); } catch { continue; }
           }
         }
       }`,
        { eval: true, workerData: folder.root },
      );
      const seen = new Map<string, number>();
      const call = async (tool: string, args: object): Promise<void> => {
        const { text } = await folder.call(tool, args);
        assert.doesNotMatch(text, /secret/);
        const kind = text.startsWith("Created folder/new-")
          ? "created"
          : text.startsWith("Error: ")
            ? "refused"
            : text;
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      };
      try {
        const end = Date.now() + 700;
        // Runs longer on a busy machine that has not seen both outcomes.
        const isTried = (): boolean => seen.has("created") && seen.has("refused");
        for (let round = 0; Date.now() < end || !isTried(); round++) {
          await call("read", { path: "folder/a.txt" });
          await call("write", { path: `folder/new-${round}/b.txt`, content: "stolen" });
          await call("edit", { path: "folder/a.txt", oldText: "secret", newText: "stolen" });
          if (round % 100 === 0) await call("grep", { pattern: "secr[e]t" });
          if (round % 100 === 50) await call("glob", { pattern: "{folder,*}/*" });
        }
      } finally {
        await swapper.terminate();
      }
      t.diagnostic(JSON.stringify(Object.fromEntries(seen)));
      assert.ok((seen.get("created") ?? 0) > 0 && (seen.get("refused") ?? 0) > 0);
      assert.deepEqual(readdirSync(folder.outside), ["a.txt", "secret-name.txt"]);
      assert.equal(readFileSync(join(folder.outside, "a.txt"), "utf8"), "secret");
    },
  );

  it("resolves any path to one inside, or throws one line", async (t) => {
    const folder = createFolder(t);
    const ways = waysOut(folder);
    const workspace = createWorkspace({ root: folder.root });
    const piece = fc.oneof(
      fc.constantFrom(
        "..",
        ".",
        "",
        "/",
        "sub",
        "up",
        "folder-link",
        "relative-link",
        "slash",
        "~",
        "C:\\",
        "\\",
      ),
      fc.constantFrom(...ways),
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.string({ unit: "grapheme", maxLength: 300 }),
    );
    const path = fc.tuple(
      fc.constantFrom("", "/", `${folder.root}/`),
      fc.array(piece, { maxLength: 6 }),
    );
    await fc.assert(
      fc.asyncProperty(path, async ([start, pieces]) => {
        try {
          const { real } = await resolveInside(workspace, start + pieces.join("/"));
          assert.ok(real === folder.root || real.startsWith(`${folder.root}/`), real);
        } catch (error) {
          assert.match((error as Error).message, /^Error: [^\p{Cc}\p{Zl}\p{Zp}]+$/u);
        }
      }),
      { numRuns: sweep({ long: 600, short: 150 }) },
    );
  });

  it("works when the working directory is the root of the file system", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "text");
    const tools = new Map(createTools({ root: "/" }).map((tool) => [tool.name, tool]));
    const path = folder.at("a.txt");
    const read = await tools.get("read")?.execute("1", { path });
    assert.deepEqual(read?.content, [{ type: "text", text: "text" }]);
    const glob = await tools.get("glob")?.execute("1", { path: folder.root, pattern: "*" });
    assert.deepEqual(glob?.content, [{ type: "text", text: path.slice(1) }]);
    const write = await tools.get("write")?.execute("1", { path, content: "new" });
    assert.deepEqual(write?.content, [
      { type: "text", text: `Replaced ${path.slice(1)} (3 bytes)` },
    ]);
  });

  it("refuses /proc, /dev and /sys also when they are inside the working directory", async (t) => {
    const folder = createFolder(t);
    symlinkSync("/proc/self", folder.at("self"));
    const tools = new Map(createTools({ root: "/" }).map((tool) => [tool.name, tool]));
    for (const path of [
      "/proc/self/environ",
      "dev/mem",
      "sys/power/state",
      "/../proc/1/environ",
      folder.at("self/environ"),
    ]) {
      for (const [name, args] of calls(path).slice(0, 4)) {
        const call = async (): Promise<unknown> => tools.get(name)?.execute("1", args);
        await assert.rejects(
          call,
          { message: `Error: ${path} is outside the working directory /` },
          `${name} ${path}`,
        );
      }
    }
    const glob = await tools.get("glob")?.execute("1", { pattern: "proc/self/*", kind: "any" });
    assert.deepEqual(glob?.content, [{ type: "text", text: "[no matches]" }]);
  });

  it("distinguishes the working directory from a folder whose name differs only in case", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "lower");
    const upper = join(folder.root, "../ROOT");
    mkdirSync(upper, { recursive: true });
    if (readdirSync(upper).length > 0)
      return t.skip("this file system takes upper and lower case as the same");
    writeFileSync(join(upper, "a.txt"), "secret");
    for (const path of ["../ROOT/a.txt", join(upper, "a.txt")]) {
      const { text } = await folder.call("read", { path });
      assert.equal(text, `Error: ${path} is outside the working directory ${folder.root}`);
    }
    assert.equal((await folder.call("read", { path: "A.TXT" })).text, "Error: No such file: A.TXT");
  });

  it("reads a hard link to an outside file, because its path looks like any other", async (t) => {
    const folder = createFolder(t);
    writeFileSync(join(folder.outside, "other-name.txt"), "shared");
    linkSync(join(folder.outside, "other-name.txt"), folder.at("a.txt"));
    assert.equal((await folder.call("read", { path: "a.txt" })).text, "shared");
  });

  it("requires a working directory that exists and is a folder", (t) => {
    const folder = createFolder(t);
    folder.put("file", "");
    for (const root of [folder.at("missing"), folder.at("file")]) {
      assert.throws(
        () => createTools({ root }),
        (error) =>
          isBowlineError(error) &&
          error.code === "invalid_argument" &&
          error.message.includes(root),
      );
    }
  });
});
