import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "@bowline/core";
import { commandCompletions } from "../../../src/screen/editor/command-completions.ts";
import { tokenAt } from "../../../src/screen/editor/completion.ts";
import { FileCompletions } from "../../../src/screen/editor/file-completions.ts";
import { mentionsIn } from "../../../src/project/mentions.ts";
import { mentionOf } from "../../../src/screen/editor/file-mention.ts";
import { candidate, rank } from "../../../src/screen/editor/fuzzy.ts";
import { drawn, newEditor, press, type } from "./driving.ts";

const commands = commandCompletions(() => [
  { name: "help", detail: "shows the commands" },
  { name: "model", detail: "selects another model" },
  { name: "compact", detail: "summarises the conversation so far" },
]);

const settle = () => new Promise((resolve) => void setImmediate(resolve));

function filesOf(...batches: readonly (readonly string[])[]) {
  return new FileCompletions({
    walk: async function* () {
      yield* batches;
    },
    clock: systemClock,
    signal: new AbortController().signal,
  });
}

describe("the menu of commands", () => {
  it("opens at a slash at the start, filters, and takes on Tab", () => {
    const editor = newEditor({ completions: [commands] });
    type(editor, "/");
    assert.equal(editor.isMenuOpen, true);
    assert.deepEqual(drawn(editor), [
      "> /|",
      "  > help     shows the commands",
      "    model    selects another model",
      "    compact  summarises the conversatio…",
    ]);
    type(editor, "mo");
    assert.deepEqual(drawn(editor), ["> /mo|", "  > model  selects another model"]);
    press(editor, "tab");
    assert.equal(editor.text(), "/model ");
    assert.equal(editor.isMenuOpen, false);
  });

  it("takes on Enter, and submits a command that is complete", () => {
    const editor = newEditor({ completions: [commands] });
    type(editor, "/he");
    assert.equal(press(editor, "enter"), undefined);
    assert.equal(editor.text(), "/help ");
    assert.equal(press(editor, "enter")?.type, "submit");
    type(editor, "/help");
    assert.equal(press(editor, "enter")?.type, "submit");
  });

  it("moves by arrows, goes round, and shows the selected item in full", () => {
    const editor = newEditor({ completions: [commands] });
    type(editor, "/");
    press(editor, "up");
    assert.deepEqual(drawn(editor), [
      "> /|",
      "    help     shows the commands",
      "    model    selects another model",
      "  > compact  summarises the conversation",
      "      so far",
    ]);
    press(editor, "down", "down", "tab");
    assert.equal(editor.text(), "/model ");
  });

  it("closes on Escape and Ctrl-C only, and stays closed for the word", () => {
    for (const words of ["escape", "ctrl-c"]) {
      const editor = newEditor({ completions: [commands] });
      type(editor, "/m");
      assert.equal(press(editor, words), undefined);
      assert.equal(editor.text(), "/m");
      type(editor, "o");
      assert.equal(editor.isMenuOpen, false);
      assert.equal(press(editor, words)?.type, "unused");
      press(editor, "tab");
      assert.equal(editor.isMenuOpen, true);
    }
  });

  it("stays closed for a path, a slash inside, and a shell line", () => {
    for (const text of ["/usr/bin", "a /", "!/help", "! cat @"]) {
      const editor = newEditor({ completions: [commands, filesOf(["a.ts"])] });
      type(editor, text);
      assert.equal(editor.isMenuOpen, false, text);
    }
  });

  it("keeps the cursor's row in a low window", () => {
    const editor = newEditor({ completions: [commands] });
    type(editor, "/");
    assert.deepEqual(drawn(editor, 40, 1), ["> /|"]);
    assert.deepEqual(drawn(editor, 40, 2), ["> /|", "  > help     shows the commands"]);
    press(editor, "down");
    assert.deepEqual(drawn(editor, 40, 4), [
      "> /|",
      "    help     shows the commands",
      "  > model    selects another model",
      "    compact  summarises the conversatio…",
    ]);
  });
});

describe("the menu of files", () => {
  it("opens at an @ after a blank, lists in the background and takes a path", async () => {
    const editor = newEditor({ completions: [filesOf(["src/", "a b.md"], ["src/main.ts"])] });
    type(editor, "see @");
    assert.deepEqual(drawn(editor), ["> see @|", "    …listing"]);
    await settle();
    type(editor, "mn");
    assert.deepEqual(drawn(editor), ["> see @mn|", "  > src/main.ts"]);
    press(editor, "tab");
    assert.equal(editor.text(), "see @src/main.ts ");
  });

  it("quotes a path with blanks", async () => {
    const editor = newEditor({ completions: [filesOf(["a b.md"])] });
    type(editor, "@a");
    await settle();
    press(editor, "enter");
    assert.equal(editor.text(), '@"a b.md" ');
  });

  it("goes on inside a folder, a quoted one too", async () => {
    const editor = newEditor({ completions: [filesOf(["my dir/", "my dir/x.ts", "z.ts"])] });
    type(editor, "@my");
    await settle();
    press(editor, "tab");
    assert.equal(editor.text(), '@"my dir/');
    assert.equal(editor.isMenuOpen, true);
    type(editor, "x");
    press(editor, "tab");
    assert.equal(editor.text(), '@"my dir/x.ts" ');
  });

  it("does not open inside a word", async () => {
    const editor = newEditor({ completions: [filesOf(["a.ts"])] });
    type(editor, "me@a");
    await settle();
    assert.equal(editor.isMenuOpen, false);
  });

  it("submits on Enter while nothing is listed yet", () => {
    const editor = newEditor({ completions: [filesOf(["a.ts"])] });
    type(editor, "@a");
    assert.equal(press(editor, "enter")?.type, "submit");
  });

  it("says which names are missing", async () => {
    const source = new FileCompletions({
      walk: async function* () {
        for (;;) yield ["a.ts", "bad\u001bname"];
      },
      clock: systemClock,
      signal: new AbortController().signal,
      maxFiles: 3,
    });
    source.open(() => {});
    await settle();
    const { items, total, notice, isListing } = source.find("", 2);
    assert.deepEqual(
      { items: items.length, total, notice, isListing },
      {
        items: 2,
        total: 3,
        notice: "only the first 3 files",
        isListing: false,
      },
    );
  });

  it("ends a listing at its time limit", async () => {
    const source = new FileCompletions({
      walk: async function* (signal) {
        yield ["a.ts"];
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
      clock: systemClock,
      signal: new AbortController().signal,
      limitMs: 10,
    });
    await new Promise<void>((resolve) => {
      source.open(() => source.find("", 1).isListing || resolve());
    });
    assert.deepEqual(source.find("a", 5).notice, "only the files found in 0.01 s");
    assert.equal(source.find("a", 5).total, 1);
  });
});

describe("the order of matches", () => {
  const names = [
    "src/editor/editor.ts",
    "docs/editor.md",
    "edit.ts",
    "test/credit.ts",
    "e/d/t.txt",
    "x",
  ];
  const ranked = (query: string): readonly string[] => rank(query, names.map(candidate), 10).names;

  it("prefers the file's own name, its start, then parts of words", () => {
    assert.deepEqual(ranked("edit"), [
      "edit.ts",
      "docs/editor.md",
      "src/editor/editor.ts",
      "test/credit.ts",
    ]);
  });

  it("finds letters in their order, whatever their case", () => {
    assert.deepEqual(ranked("EDT"), ranked("edt"));
    assert.ok(ranked("edt").includes("e/d/t.txt"));
    assert.deepEqual(ranked("zz"), []);
  });

  it("keeps the best and counts all", () => {
    const many = Array.from({ length: 100 }, (_, index) => candidate(`file${index}`));
    const { names: best, total } = rank("file", many, 3);
    assert.deepEqual({ best, total }, { best: ["file0", "file1", "file2"], total: 100 });
  });
});

describe("mentions of files", () => {
  it("are read as they are written", () => {
    const paths = ["a.ts", "a b.md", 'q"uote.md', "it's", "end.", "f(x)", "a/", "ä/漢.txt"];
    for (const path of [...paths, String.raw`back\slash`])
      assert.deepEqual(mentionsIn(`see ${mentionOf(path)}, and me@x.org`), [path]);
  });

  it("are each returned once", () => {
    assert.deepEqual(mentionsIn('@a @b @a\n@"c d"'), ["a", "b", "c d"]);
  });

  it("are found at the cursor with what is typed of them", () => {
    assert.deepEqual(tokenAt("x @src/ma", 9), { trigger: "@", start: 2, query: "src/ma" });
    assert.deepEqual(tokenAt('x @"a b', 7), { trigger: "@", start: 2, query: "a b" });
    assert.equal(tokenAt('x @"a b" ', 9), undefined);
    assert.equal(tokenAt("/a b", 4), undefined);
  });
});
