import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  clipboardImage,
  runProgram,
  type RunProgram,
} from "../../../src/screen/editor/clipboard-image.ts";
import { readImageFile } from "../../../src/screen/editor/image-file.ts";
import { imageTypeOf } from "../../../src/tools/file-kind.ts";

const png = Buffer.from("89504e470d0a1a0a0000", "hex");
const { signal } = new AbortController();

describe("an image file", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "images-"));
    await writeFile(join(folder, "a b.png"), png);
    await writeFile(join(folder, "text.png"), "text");
    await writeFile(join(folder, "huge.png"), png);
    await truncate(join(folder, "huge.png"), 21 * 1024 * 1024);
    await mkdir(join(folder, "folder.png"));
    execFileSync("mkfifo", [join(folder, "pipe.png")]);
  });
  after(() => rm(folder, { recursive: true, force: true }));
  const read = (path: string) =>
    readImageFile(path, { directory: folder, home: folder, typeOf: imageTypeOf }, signal);

  it("is read from a relative path and from the home folder", async () => {
    const expected = {
      mimeType: "image/png",
      data: png.toString("base64"),
      bytes: 10,
      path: join(folder, "a b.png"),
    };
    assert.deepEqual(await read("a b.png"), expected);
    assert.deepEqual(await read("~/a b.png"), expected);
  });

  it("is undefined if it does not exist", async () => {
    assert.equal(await read("none.png"), undefined);
    assert.equal(await read("a b.png/x.png"), undefined);
  });

  it("is refused with the reason if it is no image, too large, or no file", async () => {
    await assert.rejects(read("text.png"), /^CommandError: text\.png: is not a PNG/);
    await assert.rejects(read("huge.png"), /22020096 bytes is more than model servers take/);
    await assert.rejects(read("folder.png"), /is not a file/);
    await assert.rejects(read("pipe.png"), /is not a file/);
  });
});

describe("the clipboard", () => {
  const asked: string[] = [];
  const answering =
    (outputs: Readonly<Record<string, Buffer>>): RunProgram =>
    async (command) => {
      asked.push(command);
      return outputs[command];
    };
  const read = (
    outputs: Readonly<Record<string, Buffer>>,
    env: Readonly<Record<string, string>>,
    platform: NodeJS.Platform = "linux",
  ) => clipboardImage({ env, platform, run: answering(outputs), typeOf: imageTypeOf }, signal);

  it("is read by the program of the display", async () => {
    asked.length = 0;
    const image = await read({ xclip: png }, { WAYLAND_DISPLAY: "w", DISPLAY: ":0" });
    assert.deepEqual(image, { mimeType: "image/png", data: png.toString("base64"), bytes: 10 });
    assert.deepEqual(asked, ["wl-paste", "xclip"]);
  });

  it("is read by AppleScript where pngpaste is missing", async () => {
    const script = Buffer.from(`«data PNGf${png.toString("hex").toUpperCase()}»\n`);
    assert.equal((await read({ osascript: script }, {}, "darwin")).bytes, 10);
  });

  it("is refused with the reason", async () => {
    await assert.rejects(read({ xclip: Buffer.alloc(0) }, { DISPLAY: ":0" }), /holds no image/);
    await assert.rejects(read({}, { DISPLAY: ":0" }), /xclip is not installed\. Save the image/);
    await assert.rejects(read({}, { SSH_CONNECTION: "x" }), /at the other end of ssh/);
    await assert.rejects(read({}, {}), /no display to ask/);
  });

  it("runs programs, and knows those that are missing or fail", async () => {
    assert.equal(String(await runProgram(process.execPath, ["-p", "1"], signal)), "1\n");
    assert.equal(
      (await runProgram(process.execPath, ["-e", "process.exit(1)"], signal))?.length,
      0,
    );
    assert.equal(await runProgram("no-such-program-anywhere", [], signal), undefined);
  });
});
