import assert from "node:assert/strict";
import { chmodSync, readdirSync, rmSync, statSync, symlinkSync, truncateSync } from "node:fs";
import { describe, it } from "node:test";
import fc from "fast-check";
import { afterStep, beforeStep } from "./before-step.ts";
import { createFolder } from "./folder.ts";
import { isLinux } from "./processes.ts";
import { sweep } from "../../../../test/support/sweep.ts";

describe("edit", () => {
  it("replaces a text that occurs once, and returns a diff in its details", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\n");
    const { text, details } = await folder.call("edit", {
      path: "a.txt",
      oldText: "three",
      newText: "3\n3b",
    });
    assert.equal(text, "Edited a.txt: 1 replacement (first at line 3)");
    assert.equal(folder.get("a.txt"), "one\ntwo\n3\n3b\nfour\nfive\nsix\n");
    const diff =
      "--- a.txt\n+++ a.txt\n@@ -1,6 +1,7 @@\n one\n two\n-three\n+3\n+3b\n four\n five\n six\n";
    assert.deepEqual(details, { path: "a.txt", diff });
  });

  it("replaces every occurrence on request", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "x\ny\nx\nx x\n");
    const args = { path: "a.txt", oldText: "x", newText: "xx", replaceAll: true };
    assert.equal(
      (await folder.call("edit", args)).text,
      "Edited a.txt: 4 replacements (first at line 1)",
    );
    assert.equal(folder.get("a.txt"), "xx\ny\nxx\nxx xx\n");
  });

  it("makes one hunk of near changes and two of distant ones", async (t) => {
    const folder = createFolder(t);
    const body = Array.from({ length: 30 }, (_, index) => (index % 14 === 1 ? "x" : `${index}`));
    folder.put("a.txt", `${body.join("\n")}\n`);
    const all = await folder.call("edit", {
      path: "a.txt",
      oldText: "x",
      newText: "y\nz",
      replaceAll: true,
    });
    assert.deepEqual((all.details["diff"] as string).match(/@@ .* @@/g), [
      "@@ -1,5 +1,6 @@",
      "@@ -13,7 +14,8 @@",
      "@@ -27,4 +29,5 @@",
    ]);
    folder.put("b.txt", "x\na\nb\nx\n");
    const near = await folder.call("edit", {
      path: "b.txt",
      oldText: "x",
      newText: "y",
      replaceAll: true,
    });
    assert.equal(
      near.details["diff"],
      "--- b.txt\n+++ b.txt\n@@ -1,4 +1,4 @@\n-x\n+y\n a\n b\n-x\n+y\n",
    );
  });

  it("refuses a text that occurs several times and says where", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "x\ny\nx\n");
    const { text, thrown } = await folder.call("edit", {
      path: "a.txt",
      oldText: "x",
      newText: "z",
    });
    assert.ok(thrown);
    assert.match(text, /^Error: oldText occurs 2 times in a\.txt \(lines 1, 3\); .*replaceAll$/);
    assert.equal(folder.get("a.txt"), "x\ny\nx\n");
  });

  it("shows the nearest lines for a text that does not occur, and names the difference", async (t) => {
    const folder = createFolder(t);
    const cases: readonly (readonly [string, string, RegExp])[] = [
      [
        "a\n\tif (x) {\n\t\ty();\n",
        "  if (x) {\n    y();",
        /only in indentation .*:\n2: \tif \(x\) \{\n3: \t\ty\(\);$/,
      ],
      ["a \nb  \n", "a\nb\n", /only in white space at the ends of lines:\n1: a \n/],
      ["f( a,b )\n", "f(a, b)", /only in white space:\n1: f\( a,b \)$/],
      ["say \u201Chi\u201D \u2014 now\n", 'say "hi" - now', /look-alike characters:\n1: say/],
      ["const Foo = 1;\n", "const foo = 1;", /upper and lower case:\n1: const Foo/],
      ["x\na\rb\rc", "a\nb", /only in line breaks: line 2 has carriage returns alone \("\\r"\)/],
      ["a\rb\n", "ab", /only in carriage returns:\n1: a\rb$/],
      [
        "x\nconst total = sum(a);\ny\n",
        "const total = sum(b);",
        /nearest lines are:\n2: const total = sum\(a\);$/,
      ],
      ["abc\n", "qqqq", /Nothing in it is like it; read the file again\.$/],
      ["", "qqqq", /Nothing in it is like it/],
    ];
    for (const [content, oldText, expected] of cases) {
      folder.put("a.txt", content);
      const { text } = await folder.call("edit", { path: "a.txt", oldText, newText: "new" });
      assert.match(text, /^Error: oldText does not occur in a\.txt\. /);
      assert.match(text, expected);
      assert.equal(folder.get("a.txt"), content);
    }
  });

  it("can be aborted while it searches for similar lines", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "const value = 1;\n".repeat(500_000));
    const controller = new AbortController();
    const call = { path: "a.txt", oldText: "function gone() {}", newText: "" };
    const said = folder.call("edit", call, { signal: controller.signal });
    controller.abort(new Error("enough"));
    assert.equal((await said).text, "Error: Stopped: enough");
  });

  it("names the first line that differs when the text has several lines", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "first\nif (ready) {\n  start(engine, fuel);\n}\n");
    const oldText = "if (ready) {\n  start(engine, steam);\n}";
    const { text } = await folder.call("edit", { path: "a.txt", oldText, newText: "" });
    const why =
      'The first line that differs is line 3; for it oldText has "  start(engine, steam);". The nearest lines are:';
    const lines = "2: if (ready) {\n3:   start(engine, fuel);\n4: }";
    assert.equal(text, `Error: oldText does not occur in a.txt. ${why}\n${lines}`);
  });

  it("matches plain line feeds in a file with CRLF and keeps its line endings", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "\uFEFFone\r\ntwo\r\nthree\r\n");
    const args = { path: "a.txt", oldText: "one\ntwo\n", newText: "1\n2\n2b\n" };
    assert.equal(
      (await folder.call("edit", args)).text,
      "Edited a.txt: 1 replacement (first at line 1)",
    );
    assert.equal(folder.get("a.txt"), "\uFEFF1\r\n2\r\n2b\r\nthree\r\n");
    await folder.call("edit", { path: "a.txt", oldText: "three", newText: "3\r\n4" });
    assert.equal(folder.get("a.txt"), "\uFEFF1\r\n2\r\n2b\r\n3\r\n4\r\n");
  });

  it("leaves untouched lines as they are in a file with mixed line endings", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "a\r\nb\nc\r\nd\n");
    await folder.call("edit", { path: "a.txt", oldText: "b\n", newText: "B\nB\n" });
    await folder.call("edit", { path: "a.txt", oldText: "c\n", newText: "C\nC\n" });
    assert.equal(folder.get("a.txt"), "a\r\nB\nB\nC\r\nC\r\nd\n");
  });

  it("refuses an edit that changes nothing", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "a\r\n");
    for (const newText of ["a\n", "a\r\n"]) {
      const { text } = await folder.call("edit", { path: "a.txt", oldText: "a\n", newText });
      assert.match(text, /^Error: oldText and newText are the same/);
    }
    const empty = await folder.call("edit", { path: "a.txt", oldText: "", newText: "x" });
    assert.match(empty.text, /^Error: oldText is empty/);
  });

  it("keeps the mode, and follows a link inside the working directory", async (t) => {
    const folder = createFolder(t);
    chmodSync(folder.put("real.sh", "old"), 0o750);
    symlinkSync("real.sh", folder.at("link.sh"));
    await folder.call("edit", { path: "link.sh", oldText: "old", newText: "new" });
    assert.equal(folder.get("real.sh"), "new");
    assert.equal(statSync(folder.at("real.sh")).mode & 0o777, 0o750);
  });

  it("refuses missing, binary and huge files and folders", async (t) => {
    const folder = createFolder(t);
    const edit = async (path: string): Promise<string> =>
      (await folder.call("edit", { path, oldText: "a", newText: "b" })).text;
    assert.equal(await edit("x.txt"), "Error: No such file: x.txt");
    folder.put("data", "a\0");
    assert.equal(await edit("data"), "Error: data is not a text file (binary data, 2 bytes)");
    truncateSync(folder.put("big", "a"), 2 ** 30);
    assert.match(
      await edit("big"),
      /^Error: big has 1073741824 bytes; edit takes files of at most 10485760$/,
    );
    assert.match(await edit("."), /^Error: \. is a folder/);
  });

  it("refuses when the file is changed while it is read", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "aa--");
    await beforeStep(t, "readFile", () => folder.put("a.txt", "")); // the first step of a program that rewrites the file
    const { text } = await folder.call("edit", { path: "a.txt", oldText: "aa", newText: "b" });
    assert.equal(text, "Error: a.txt was changed by something else meanwhile; read it again");
    assert.equal(folder.get("a.txt"), "");
  });

  it("refuses when the file is changed before it is replaced", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "aa--");
    const { signal } = new AbortController();
    let asked = 0;
    // The last check before the file is compared again and replaced.
    Object.defineProperty(signal, "aborted", {
      get() {
        if (++asked === 2) folder.put("a.txt", "aa");
        return false;
      },
    });
    const { text } = await folder.call(
      "edit",
      { path: "a.txt", oldText: "aa", newText: "b" },
      { signal },
    );
    assert.equal(text, "Error: a.txt was changed by something else meanwhile; read it again");
    assert.equal(folder.get("a.txt"), "aa");
    assert.deepEqual(readdirSync(folder.root), ["a.txt"]);
  });

  it("does not restore permissions that were removed during the edit", async (t) => {
    const folder = createFolder(t);
    const path = folder.put("a.txt", "aa--");
    chmodSync(path, 0o644);
    await beforeStep(t, "sync", (call) => call === 1 && chmodSync(path, 0o600));
    const { text } = await folder.call("edit", { path: "a.txt", oldText: "aa", newText: "b" });
    assert.equal(text, "Error: a.txt was changed by something else meanwhile; read it again");
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(folder.get("a.txt"), "aa--");
  });

  it("does not recreate a folder that was removed during the edit", async (t) => {
    const folder = createFolder(t);
    folder.put("src/deep/a.txt", "aa--");
    // The last check of the file that was read.
    const last = isLinux ? 2 : 3;
    await afterStep(
      t,
      "stat",
      (call) => call === last && rmSync(folder.at("src"), { recursive: true }),
    );
    const { text } = await folder.call("edit", {
      path: "src/deep/a.txt",
      oldText: "aa",
      newText: "b",
    });
    assert.equal(text, "Error: No such file: src/deep/a.txt");
    assert.deepEqual(readdirSync(folder.root), []);
  });

  it("refuses more replacements than the limit", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "a".repeat(100_001));
    const edit = async (): Promise<string> =>
      (await folder.call("edit", { path: "a.txt", oldText: "a", newText: "bb", replaceAll: true }))
        .text;
    assert.match(await edit(), /^Error: oldText occurs more than 100000 times in a\.txt/);
    folder.put("a.txt", "a\n".repeat(100_000));
    assert.equal(await edit(), "Edited a.txt: 100000 replacements (first at line 1)");
    assert.equal(folder.get("a.txt"), "bb\n".repeat(100_000));
  });

  it("limits the size of the diff for any change", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", `${"x".repeat(1e6)}\n`.repeat(5) + "x\n".repeat(1000));
    const call = { path: "a.txt", oldText: "x\n", newText: "y\n", replaceAll: true };
    const diff = (await folder.call("edit", call)).details["diff"] as string;
    assert.ok(diff.length < 10_000, `${diff.length}`);
    assert.match(diff, /\n-x{499}…\n[^]*\n\[the rest of the diff is left out\]\n$/);
  });

  it("produces the expected text for any file, with LF or CRLF, with or without a byte order mark", async (t) => {
    const folder = createFolder(t);
    const line = fc.string({
      unit: fc.constantFrom("a", "b", " ", "\t", "é", "🎉", "{", "$&"),
      maxLength: 6,
    });
    const text = fc.array(line, { maxLength: 6 }).map((parts) => parts.join("\n"));
    const mark = "<here>";
    await fc.assert(
      fc.asyncProperty(
        text,
        text,
        text,
        text,
        fc.constantFrom("\n", "\r\n"),
        fc.constantFrom("", "\uFEFF"),
        fc.boolean(),
        async (before, after, middle, newText, ending, bom, isCrlfCall) => {
          const toEnding = (value: string): string => value.replaceAll("\n", ending);
          const oldText = `${mark}${middle}${mark}`;
          const content = `\n${before}${oldText}${after}`;
          folder.put("a.txt", bom + toEnding(content));
          const asCalled = (value: string): string =>
            isCrlfCall ? value.replaceAll("\n", "\r\n") : value;
          const call = { path: "a.txt", oldText: asCalled(oldText), newText: asCalled(newText) };
          const { text: said } = await folder.call("edit", call);
          const at = content.slice(0, content.indexOf(mark)).split("\n").length;
          assert.equal(said, `Edited a.txt: 1 replacement (first at line ${at})`);
          const { text: read } = await folder.call("read", { path: "a.txt" });
          assert.equal(read, bom + toEnding(`\n${before}${newText}${after}`));
        },
      ),
      { numRuns: sweep({ long: 120, short: 40 }) },
    );
  });
});
