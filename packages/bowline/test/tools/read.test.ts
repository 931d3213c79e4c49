import assert from "node:assert/strict";
import { appendFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { openFile } from "../../src/tools/open-file.ts";
import { createWorkspace } from "../../src/tools/workspace.ts";
import { beforeStep } from "./before-step.ts";
import { createFolder } from "./folder.ts";

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join("");

describe("read", () => {
  it("returns the text of a file exactly, with its details", async (t) => {
    const folder = createFolder(t);
    for (const text of ["a", "a\n", "a\r\nb\r\n", "\uFEFFa\n", "\n\n", "é 漢 🎉\n"]) {
      folder.put("src/a.ts", text);
      const { text: read, details } = await folder.call("read", { path: "./src/a.ts" });
      assert.equal(read, text);
      const count = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
      assert.deepEqual(details, { path: "src/a.ts", bytes: Buffer.byteLength(text), lines: count });
    }
  });

  it("says when a file is empty", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "");
    assert.equal((await folder.call("read", { path: "a.txt" })).text, "[empty file]");
  });

  it("cuts after 2000 lines and says how to continue", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", lines(1, 5321));
    const { text, details } = await folder.call("read", { path: "a.txt" });
    assert.equal(text, `${lines(1, 2000)}[lines 1-2000 of 5321; read on with offset 2001]`);
    assert.equal(details["lines"], 2000);
  });

  it("reads from an offset to the end without a notice", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", lines(1, 30));
    assert.equal((await folder.call("read", { path: "a.txt", offset: 29 })).text, lines(29, 30));
    assert.equal(
      (await folder.call("read", { path: "a.txt", offset: 21, limit: 10 })).text,
      lines(21, 30),
    );
    const part = await folder.call("read", { path: "a.txt", offset: 10, limit: 2 });
    assert.equal(part.text, `${lines(10, 11)}[lines 10-11 of 30; read on with offset 12]`);
  });

  it("puts line numbers before the lines when asked to", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "one\r\n\n\u2028three\nfour");
    const read = async (more: object): Promise<string> =>
      (await folder.call("read", { path: "a.txt", lineNumbers: true, ...more })).text;
    assert.equal(await read({}), "1\tone\r\n2\t\n3\t\u2028three\n4\tfour");
    assert.equal(
      await read({ offset: 2, limit: 2 }),
      "2\t\n3\t\u2028three\n[lines 2-3 of 4; read on with offset 4]",
    );
  });

  it("counts line numbers towards the 100 kB", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "\n".repeat(150_000));
    const call = { path: "a.txt", limit: 150_000, lineNumbers: true };
    const { text, details } = await folder.call("read", call);
    assert.ok(text.length < 100_100, `${text.length}`);
    // 9, 90, 900 and 9000 lines have numbers of 1 to 4 digits, the rest 5. Each line adds a tab and
    // a line feed.
    const count = 9_999 + Math.floor((100_000 - 9 * 3 - 90 * 4 - 900 * 5 - 9_000 * 6) / 7);
    assert.equal(details["lines"], count);
    assert.ok(
      text.endsWith(`${count}\t\n[lines 1-${count} of 150000; read on with offset ${count + 1}]`),
    );
  });

  it("counts a last line without a line feed", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "1\n2\n3");
    const part = await folder.call("read", { path: "a.txt", limit: 2 });
    assert.equal(part.text, "1\n2\n[lines 1-2 of 3; read on with offset 3]");
    assert.equal((await folder.call("read", { path: "a.txt", offset: 3 })).text, "3");
  });

  it("refuses an offset past the end and says how long the file is", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "1\n2\n3\n");
    const { text } = await folder.call("read", { path: "a.txt", offset: 4 });
    assert.equal(text, "Error: a.txt has 3 lines; there is no line 4");
  });

  it("cuts after 100 kB at a whole line, whatever the limit", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", `${"x".repeat(999)}\n`.repeat(250));
    const first = await folder.call("read", { path: "a.txt", limit: 5000 });
    assert.ok(first.text.endsWith("x\n[lines 1-100 of 250; read on with offset 101]"));
    const last = await folder.call("read", { path: "a.txt", offset: 201 });
    assert.equal(last.text.length, 50_000);
  });

  it("cuts a line longer than 100 kB between two characters", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", `x${"é".repeat(100_000)}\nnext\n`);
    const { text } = await folder.call("read", { path: "a.txt" });
    const notice =
      "[lines 1-1 of 2; line 1 is longer than 100000 bytes and was cut; read on with offset 2]";
    assert.equal(text, `x${"é".repeat(49_999)}\n${notice}`);
    assert.equal((await folder.call("read", { path: "a.txt", offset: 2 })).text, "next\n");
    folder.put("b.txt", "y".repeat(100_001));
    const end = "\n[lines 1-1 of 1; line 1 is longer than 100000 bytes and was cut]";
    assert.equal((await folder.call("read", { path: "b.txt" })).text, "y".repeat(100_000) + end);
  });

  it("reads a file of 1 GB in constant memory", async (t) => {
    const folder = createFolder(t);
    truncateSync(folder.put("big.log", lines(1, 3000)), 2 ** 30);
    const before = process.memoryUsage().rss;
    const { text, details } = await folder.call("read", { path: "big.log" });
    assert.equal(text, `${lines(1, 2000)}[lines 1-2000 of more; read on with offset 2001]`);
    assert.equal(details["bytes"], 2 ** 30);
    // The rest of the file is one line.
    const rest = await folder.call("read", { path: "big.log", offset: 3001 });
    assert.match(
      rest.text,
      /\n\[lines 3001-3001 of more; line 3001 is longer than 100000 bytes and was cut; .*\]$/,
    );
    // Reading past the end scans the whole file, so this one is smaller.
    truncateSync(folder.at("big.log"), 2 ** 27);
    const past = await folder.call("read", { path: "big.log", offset: 4000 });
    assert.equal(past.text, "Error: big.log has 3001 lines; there is no line 4000");
    const grown = process.memoryUsage().rss - before;
    assert.ok(grown < 48 * 2 ** 20, `grew by ${grown} bytes`);
  });

  it("finds lines deep in a large file without counting the rest", async (t) => {
    const folder = createFolder(t);
    folder.put("big.txt", "0123456789abcde\n".repeat(2 ** 20 + 10));
    const { text } = await folder.call("read", { path: "big.txt", offset: 2 ** 20, limit: 2 });
    const line = "0123456789abcde\n";
    assert.equal(
      text,
      `${line}${line}[lines 1048576-1048577 of more; read on with offset 1048578]`,
    );
    const end = await folder.call("read", { path: "big.txt", offset: 2 ** 20 + 9 });
    assert.equal(end.text, line.repeat(2));
  });

  it("stops when the call is aborted", async (t) => {
    const folder = createFolder(t);
    truncateSync(folder.put("big.log", lines(1, 2000)), 2 ** 30);
    const controller = new AbortController();
    const call = folder.call(
      "read",
      { path: "big.log", offset: 5000 },
      { signal: controller.signal },
    );
    setTimeout(() => controller.abort(new Error("enough")), 20);
    assert.equal((await call).text, "Error: Stopped: enough");
  });

  const changed = "Error: a.txt was changed by something else meanwhile; read it again";
  const notice =
    "[the file was changed by something else while it was read: this may be part old and part new]";

  it("returns a growing file as it was at first, with a notice", async (t) => {
    const folder = createFolder(t);
    const path = folder.put("a.txt", "one\ntwo\n");
    await beforeStep(
      t,
      "read",
      (call) => call < 50 && appendFileSync(path, "more\n".repeat(20_000)),
    );
    const { text, details } = await folder.call("read", { path: "a.txt", limit: 1e6 });
    assert.equal(text, `one\ntwo\n${notice}`);
    assert.deepEqual(details, { path: "a.txt", bytes: 8, lines: 2 });
  });

  it("says when a file changes between two reads", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "one\ntwo\n");
    await beforeStep(t, "read", (call) => call === 2 && folder.put("a.txt", "1\n"));
    assert.equal((await folder.call("read", { path: "a.txt" })).text, `1\n${notice}`);
    t.mock.restoreAll();
    folder.put("a.txt", "one\ntwo\nthree\n");
    await beforeStep(t, "read", (call) => call === 2 && folder.put("a.txt", "1\n2"));
    const { text } = await folder.call("read", { path: "a.txt", limit: 1, lineNumbers: true });
    assert.equal(text, `1\t1\n[lines 1-1 of 2; read on with offset 2]\n${notice}`);
  });

  it("does not call a file empty, short or binary while another program is writing it", async (t) => {
    const folder = createFolder(t);
    const png = Buffer.from("89504e470d0a1a0a0000000d", "hex");
    const cases: readonly (readonly [
      before: string | Buffer,
      at: number,
      meanwhile: string | Buffer,
    ])[] = [
      ["one\n", 1, ""],
      ["one\n", 2, ""],
      ["one\n", 1, "\0"],
      ["one\n", 2, Buffer.from([0xff])],
      [png, 2, ""],
      [png, 2, png.subarray(0, 8)],
    ];
    for (const [before, at, meanwhile] of cases) {
      folder.put("a.txt", before);
      await beforeStep(t, "read", (call) => call === at && folder.put("a.txt", meanwhile));
      assert.equal((await folder.call("read", { path: "a.txt" })).text, changed);
      t.mock.restoreAll();
    }
  });

  it("does not report a link put in the place of the file as a link cycle", async (t) => {
    const folder = createFolder(t);
    const real = folder.put("a.txt", "one\n");
    rmSync(real);
    symlinkSync("b.txt", real);
    // The path as it was resolved before the change.
    const place = { given: "a.txt", shown: "a.txt", real };
    await assert.rejects(openFile(createWorkspace(folder), place), { message: changed });
  });

  it("returns an image as an image part", async (t) => {
    const folder = createFolder(t);
    const images: Record<string, Buffer> = {
      "image/png": Buffer.from("89504e470d0a1a0a0000000d", "hex"),
      "image/jpeg": Buffer.from("ffd8ffe000104a464946", "hex"),
      "image/gif": Buffer.from("GIF89a\u0001\u0000", "latin1"),
      "image/webp": Buffer.from("RIFF\u0004\u0000\u0000\u0000WEBPVP8 ", "latin1"),
    };
    for (const [mimeType, bytes] of Object.entries(images)) {
      folder.put("picture", bytes);
      const { content } = await folder.call("read", { path: "picture" });
      assert.deepEqual(content, [{ type: "image", data: bytes.toString("base64"), mimeType }]);
    }
  });

  it("refuses an image above 5 MB", async (t) => {
    const folder = createFolder(t);
    truncateSync(folder.put("a.png", Buffer.from("89504e470d0a1a0a", "hex")), 5 * 2 ** 20 + 1);
    const { text } = await folder.call("read", { path: "a.png" });
    assert.equal(
      text,
      "Error: a.png is an image of 5242881 bytes (image/png); at most 5242880 can be read",
    );
  });

  it("refuses binary files with their size and kind", async (t) => {
    const folder = createFolder(t);
    const binaries: readonly (readonly [Buffer, string])[] = [
      [
        Buffer.from("PK\u0003\u0004\u0000\u0000", "latin1"),
        "ZIP archive or office document, 6 bytes",
      ],
      [Buffer.from("a\u0000b"), "binary data, 3 bytes"],
      [Buffer.from("caf\u00e9\n", "latin1"), "not UTF-8 text, 5 bytes"],
      [Buffer.from("\uFEFFhi", "utf16le"), "UTF-16 text, 6 bytes"],
      [Buffer.concat([Buffer.alloc(9000, "a"), Buffer.from([0xff])]), "not UTF-8 text, 9001 bytes"],
    ];
    for (const [bytes, kind] of binaries) {
      folder.put("data", bytes);
      assert.equal(
        (await folder.call("read", { path: "data" })).text,
        `Error: data is not a text file (${kind})`,
      );
    }
  });

  it("refuses a folder and suggests glob", async (t) => {
    const folder = createFolder(t);
    folder.put("src/a.ts", "");
    const { text } = await folder.call("read", { path: "src" });
    assert.equal(
      text,
      'Error: src is a folder; list it with glob (path "src", pattern "*", kind "any")',
    );
    assert.match((await folder.call("read", { path: "." })).text, /^Error: \. is a folder/);
  });

  it("says that only bash can use a name that is not UTF-8", async (t) => {
    const folder = createFolder(t);
    const name = Buffer.concat([
      Buffer.from(folder.at("caf")),
      Buffer.from([0xe9]),
      Buffer.from(".txt"),
    ]);
    try {
      writeFileSync(name, "text");
    } catch {
      return t.skip("this file system takes no such name");
    }
    const { text: listed } = await folder.call("glob", { pattern: "*" });
    assert.equal(listed, "caf\uFFFD.txt");
    const { text } = await folder.call("read", { path: listed });
    const why =
      "\uFFFD may stand for bytes that are not UTF-8; a name with such bytes can be used with bash only";
    assert.equal(text, `Error: No such file: caf\uFFFD.txt (${why})`);
  });

  it("reports a missing file in a fixed sentence", async (t) => {
    const folder = createFolder(t);
    assert.equal((await folder.call("read", { path: "x.txt" })).text, "Error: No such file: x.txt");
  });
});
