/** Settings files and rules that would silently have no effect. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { CommandError } from "../../src/command-error.ts";
import { addRules, removeRule } from "../../src/policy/permission-file.ts";
import { parseRule, RuleError } from "../../src/policy/rule-text.ts";
import { refusalOf } from "../../src/project/tool-limits.ts";
import { temporary } from "../command.ts";

describe("a settings file", () => {
  it("with a name that stands twice, or nested too deeply, is refused and stays as it is", async () => {
    await using folder = await temporary();
    const path = join(folder.path, "bowline.json");
    const long = JSON.stringify("x\\".repeat(200_000));
    const texts: [string, RegExp][] = [
      ['{"permissions":{"deny":["a"]},"permissions":{"deny":["b"]}}', /has "permissions" twice/],
      ['{"permissions":{"deny":["a"],"deny":["b"]}}', /has "deny" twice/],
      [`{"a":${"[".repeat(1e5)}${"]".repeat(1e5)}}`, /nested too deeply/],
      [`{"permissions":{"deny":[${'"x",'.repeat(500)}"x"]}}`, /at most 500 rules/],
    ];
    for (const [text, why] of texts) {
      await writeFile(path, text);
      for (const change of [() => addRules(path, "deny", ["c"]), () => removeRule(path, "b")])
        await assert.rejects(
          change,
          (error) => error instanceof CommandError && why.test(error.message),
        );
      assert.equal(await readFile(path, "utf8"), text);
    }
    await writeFile(path, `{"a": ${long}}`);
    await addRules(path, "deny", ["c"]);
    const { permissions } = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
    assert.deepEqual(permissions, { deny: ["c"] });
  });
});

describe("a deny for commands", () => {
  it("with signs of a shell is refused, because the parts of a command are compared alone", () => {
    for (const text of ["bash(curl * | sh)", 'bash(git commit -m "x")', "bash(echo $(x))"])
      assert.throws(
        () => parseRule(text, "deny"),
        (error) => error instanceof RuleError && /each part of a command/.test(error.message),
        text,
      );
  });

  it("of a sub-agent denies what a deny of the permissions would, and nothing else", () => {
    const disallowedTools = [{ tool: "bash", pattern: "git push *" }];
    const isRefused = (command: string): boolean =>
      refusalOf("agent", { disallowedTools }, "bash", { command }) !== undefined;
    for (const command of ["git push x", "GIT push x", "ls; /bin/git push", "git -C a push", "$X"])
      assert.equal(isRefused(command), true, command);
    for (const command of ["git log -1", "ls"]) assert.equal(isRefused(command), false, command);
  });
});
