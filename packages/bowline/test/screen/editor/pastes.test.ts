import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { wholeText, type DraftImage } from "../../../src/screen/editor/draft.ts";
import { pastedImagePaths } from "../../../src/screen/editor/pasted-paths.ts";
import { newEditor, paste, press, type } from "./driving.ts";

const long = `${"x".repeat(40)}\n`.repeat(10_000);

describe("a paste", () => {
  it("is text if it is short, control characters and line ends included", () => {
    const editor = newEditor();
    paste(editor, "a\r\nb\rc\u0003\u001b[A");
    assert.equal(editor.text(), "a\nb\nc\u0003\u001b[A");
  });

  it("is folded above 10 lines or 1,000 characters, and sent whole", () => {
    const editor = newEditor();
    type(editor, "look: ");
    paste(editor, long);
    paste(editor, "y".repeat(1001));
    assert.equal(
      editor.text(),
      "look: [Pasted text #1, 10,000 lines, 410 kB][Pasted text #2, 1 line, 1 kB]",
    );
    const result = press(editor, "enter");
    assert.equal(result?.type, "submit");
    assert.equal(wholeText(result.draft), `look: ${long}${"y".repeat(1001)}`);
    assert.deepEqual(
      [...result.draft.pastes],
      [
        [1, long],
        [2, "y".repeat(1001)],
      ],
    );
  });

  it("stays unfolded at 10 lines and 1,000 characters", () => {
    const editor = newEditor();
    paste(editor, "1\n".repeat(10));
    paste(editor, "y".repeat(1000));
    assert.equal(editor.draft().pastes.size, 0);
  });

  it("is deleted as a whole", () => {
    const editor = newEditor();
    paste(editor, long);
    press(editor, "backspace");
    assert.equal(editor.isEmpty, true);
    press(editor, "ctrl-_");
    assert.equal(wholeText(editor.draft()), long);
  });

  it("is returned by Ctrl-O before and behind its label, to be shown", () => {
    const editor = newEditor();
    paste(editor, long);
    const expected = {
      type: "view",
      title: "[Pasted text #1, 10,000 lines, 410 kB]",
      text: long,
    };
    assert.deepEqual(press(editor, "ctrl-o"), expected);
    assert.deepEqual(press(editor, "left", "ctrl-o"), expected);
    type(editor, "x");
    assert.equal(press(editor, "ctrl-a", "ctrl-o")?.type, "unused");
  });

  it("that imitates a label stays text", () => {
    const editor = newEditor();
    type(editor, "[Pasted text #1, 10,000 lines, 410 kB]");
    assert.equal(wholeText(editor.draft()), "[Pasted text #1, 10,000 lines, 410 kB]");
    assert.equal(editor.draft().pastes.size, 0);
  });

  it("whose end is missing is reported", () => {
    const notices: string[] = [];
    const editor = newEditor({ onNotice: (notice) => notices.push(notice) });
    editor.input({ type: "paste", text: "start", isCut: true });
    assert.deepEqual(notices, ["The paste was too long: its end is missing."]);
  });

  it("keeps its number when a returned draft is set again", () => {
    const editor = newEditor();
    paste(editor, long);
    const result = press(editor, "alt-enter");
    assert.equal(result?.type, "queue");
    editor.set(result.draft);
    assert.equal(editor.text(), result.draft.text);
    assert.equal(wholeText(editor.draft()), long);
  });
});

describe("the pasted path of an image", () => {
  const image: DraftImage = { mimeType: "image/png", data: "AAAA", bytes: 120_000, path: "/a.png" };
  const port = (answer: () => Promise<DraftImage | undefined>, clipboard = answer) => ({
    file: answer,
    clipboard: async () => (await clipboard()) as DraftImage,
  });
  const settle = () => new Promise((resolve) => void setImmediate(resolve));

  it("becomes the image when it is read", async () => {
    let changes = 0;
    const editor = newEditor({ images: port(async () => image), onChange: () => changes++ });
    type(editor, "see ");
    paste(editor, "/a.png");
    assert.equal(editor.text(), "see /a.png");
    type(editor, " now");
    await settle();
    assert.equal(editor.text(), "see [Image #1, PNG, 120 kB] now");
    assert.deepEqual(editor.draft().images, [image]);
    assert.equal(changes, 1);
    type(editor, "!");
    assert.equal(editor.text(), "see [Image #1, PNG, 120 kB] now!");
  });

  it("stays text if there is no such file, and after an undo", async () => {
    const missing = newEditor({ images: port(async () => undefined) });
    paste(missing, "/none.png");
    await settle();
    assert.equal(missing.text(), "/none.png");
    const editor = newEditor({ images: port(async () => image) });
    paste(editor, "/a.png");
    await settle();
    press(editor, "ctrl-_");
    assert.equal(editor.text(), "/a.png");
  });

  it("is not read into a later draft", async () => {
    const editor = newEditor({ images: port(async () => image) });
    paste(editor, "/a.png");
    press(editor, "enter");
    type(editor, "/a.png");
    await settle();
    assert.equal(editor.text(), "/a.png");
  });

  it("reports why an image cannot be attached", async () => {
    const notices: string[] = [];
    const editor = newEditor({
      images: port(() => Promise.reject(new Error("The clipboard holds no image."))),
      onNotice: (notice) => notices.push(notice),
    });
    press(editor, "ctrl-v");
    await settle();
    assert.deepEqual(notices, ["The clipboard holds no image."]);
  });

  it("is not needed for an image of the clipboard", async () => {
    const editor = newEditor({ images: port(async () => image) });
    press(editor, "ctrl-v");
    await settle();
    assert.equal(editor.text(), "[Image #1, PNG, 120 kB]");
  });

  const cases: readonly (readonly [string, readonly string[] | undefined])[] = [
    ["/tmp/a.png", ["/tmp/a.png"]],
    ["/tmp/a b.png ", ["/tmp/a b.png"]],
    [String.raw`/tmp/a\ b.JPG`, ["/tmp/a b.JPG"]],
    ["'/tmp/a b.webp' /c.gif", ["/tmp/a b.webp", "/c.gif"]],
    ["file:///tmp/a%20b.png\nfile:///c.jpeg", ["/tmp/a b.png", "/c.jpeg"]],
    ["shot.png", ["shot.png"]],
    ["https://example.com/a.png", undefined],
    ["see /tmp/a.png", undefined],
    ["/tmp/a.txt", undefined],
    ["it's.png", undefined],
    ["", undefined],
  ];
  for (const [text, expected] of cases)
    it(`is ${expected === undefined ? "not " : ""}seen in ${JSON.stringify(text)}`, () => {
      assert.deepEqual(pastedImagePaths(text), expected);
    });
});
