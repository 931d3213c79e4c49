import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parseCommand } from "../../src/project/commands.ts";
import {
  expandCommand,
  splitArguments,
  type ExpandOptions,
} from "../../src/project/expand-command.ts";
import { temporary } from "../command.ts";

const command = (body: string): { name: string; body: string; path: string } => ({
  name: "x",
  body,
  path: "x.md",
});

/** Permissions that let every file be read. */
const all = (root: string): ExpandOptions => ({ root, whyNotRead: () => undefined });

describe("expandCommand", () => {
  it("fills in arguments once, and adds those without a place", async () => {
    await using folder = await temporary();
    const text = async (body: string, given: string): Promise<string> =>
      (await expandCommand(command(body), given, all(folder.path))).text;
    assert.equal(await text("a $ARGUMENTS b", " x  y "), "a x  y b");
    assert.equal(await text("$2-$1-$3", 'one "two words"'), "two words-one-");
    assert.equal(await text("$1 $ARGUMENTS", "$ARGUMENTS $1"), "$ARGUMENTS $ARGUMENTS $1");
    assert.equal(await text("fixed", "more"), "fixed\n\nmore");
    assert.equal(await text("$10 $HOME", ""), "$10 $HOME");
  });

  it("adds files of the project, but none outside and none with secrets, and runs nothing", async () => {
    await using folder = await temporary();
    const root = join(folder.path, "root");
    await mkdir(root);
    await writeFile(join(root, "a.txt"), "text of a");
    await writeFile(join(root, ".env"), "SECRET");
    await writeFile(join(folder.path, "b.txt"), "SECRET");
    const { text, notices } = await expandCommand(
      command(`@$1 @.env @../b.txt @none.txt \`@a.txt\` !\`touch ${root}/ran\``),
      "a.txt",
      all(root),
    );
    assert.match(text, /<file path="a\.txt">\ntext of a\n<\/file>$/);
    assert.doesNotMatch(text, /SECRET/);
    assert.match(text, /!`touch/);
    assert.equal(notices.length, 3);
    assert.match(notices[0] ?? "", /touch .* was not run/);
  });
});

describe("a file that the permissions deny", () => {
  it("is not added, and the notice says why", async () => {
    await using folder = await temporary();
    await writeFile(join(folder.path, "a.txt"), "SECRET");
    await writeFile(join(folder.path, "b.txt"), "text of b");
    const { text, notices } = await expandCommand(command("@a.txt @b.txt"), "", {
      root: folder.path,
      whyNotRead: (path) => (path === join(folder.path, "a.txt") ? "A rule denies it." : undefined),
    });
    assert.doesNotMatch(text, /SECRET/);
    assert.match(text, /text of b/);
    assert.deepEqual(notices, ["/x: @a.txt was not read: A rule denies it."]);
  });
});

describe("splitArguments", () => {
  it("joins quoted words", () => {
    assert.deepEqual(splitArguments(`a "b c" d'e f' "" "open`), ["a", "b c", "de f", "", '"open']);
  });
});

describe("a command's file", () => {
  it("narrows the tools, and names what is no rule", () => {
    const notices: string[] = [];
    const text =
      "---\nallowed-tools: Read, Bash(git log:*), ???\nargument-hint: [a] [b]\n---\n# Title\nx";
    const file = { path: "/p/a.md", names: ["git", "a"], text, hash: "" };
    const parsed = parseCommand(file, "project", (notice) => notices.push(notice));
    assert.deepEqual(
      [parsed?.name, parsed?.description, parsed?.allowedTools],
      ["git:a", "Title", [{ tool: "read" }, { tool: "bash", pattern: "git log *" }]],
    );
    assert.equal(parsed?.argumentHint, "[a] [b]");
    assert.deepEqual(notices, ['/p/a.md: "???" in allowed-tools is no rule.']);
  });
});
