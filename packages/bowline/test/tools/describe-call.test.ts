import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { describeCall } from "../../src/tools/index.ts";
import { sweep } from "../../../../test/support/sweep.ts";

describe("describeCall", () => {
  it("names on one line what a call will affect", () => {
    const cases: readonly (readonly [string, unknown, string])[] = [
      ["read", { path: "src/a.ts" }, "read src/a.ts"],
      ["read", { path: "src/a.ts", offset: 10, limit: 31 }, "read src/a.ts (lines 10-40)"],
      ["read", { path: "src/a.ts", limit: 5 }, "read src/a.ts (lines 1-5)"],
      ["read", { path: "src/a.ts", offset: 10 }, "read src/a.ts (from line 10)"],
      ["write", { path: "notes.txt", content: "h\u00e9" }, "write notes.txt (3 bytes)"],
      [
        "edit",
        { path: "a.txt", oldText: "x", newText: "y\nz" },
        String.raw`edit a.txt: "x" -> "y\nz"`,
      ],
      [
        "edit",
        { path: "a", oldText: "x", newText: "y", replaceAll: true },
        'edit a: "x" -> "y", everywhere',
      ],
      ["bash", { command: "npm -v" }, "bash: npm -v"],
      ["bash", { command: "npm t", timeout: 9 }, "bash: npm t (timeout 9 s)"],
      ["grep", { pattern: "a+", path: "src", glob: "*.ts" }, 'grep "a+" in src ("*.ts")'],
      ["glob", { pattern: "**/*.ts" }, 'glob "**/*.ts"'],
      ["glob", { pattern: "*", path: "src" }, 'glob "*" in src'],
    ];
    for (const [name, args, expected] of cases) assert.equal(describeCall(name, args), expected);
  });

  it("quotes a path that would look like part of the sentence", () => {
    assert.equal(describeCall("read", { path: "a (lines 1-2)" }), 'read "a (lines 1-2)"');
    assert.equal(
      describeCall("write", { path: 'a" "b', content: "" }),
      String.raw`write "a\" \"b" (0 bytes)`,
    );
    assert.equal(describeCall("read", { path: "" }), 'read ""');
  });

  it("escapes characters that move the cursor, break the line or hide text", () => {
    assert.equal(
      describeCall("bash", { command: "ls\u001b[2K\rrm -rf ~\n" }),
      String.raw`bash: ls\x1b[2K\rrm -rf ~\n`,
    );
    assert.equal(
      describeCall("bash", { command: "a\u202eb\u200bc\u{e0061}\u009b" }),
      String.raw`bash: a\u{202e}b\u{200b}c\u{e0061}\x9b`,
    );
    assert.equal(
      describeCall("bash", { command: "a\u3164b\u115fc\ufe0fd\u{e0100}e\u2800f\u034f" }),
      String.raw`bash: a\u{3164}b\u{115f}c\u{fe0f}d\u{e0100}e\u{2800}f\u{34f}`,
    );
    assert.equal(describeCall("x\u001b]0;t\u0007", {}), String.raw`x\x1b]0;t\x07 {}`);
  });

  it("shows a command whole, or how much of it is cut", () => {
    const command = `${"x".repeat(1500)}; rm -rf ~`;
    assert.equal(describeCall("bash", { command }), `bash: ${command}`);
    assert.match(
      describeCall("bash", { command: "x".repeat(5000) }),
      /^bash: x{1999}… \(3001 more characters\)$/,
    );
  });

  it("accepts arguments that do not fit the tool", () => {
    assert.equal(describeCall("read", { path: 7 }), 'read {"path":7}');
    assert.equal(describeCall("bash", null), "bash null");
    assert.equal(describeCall("other", { a: "\u0000" }), String.raw`other {"a":"\u0000"}`);
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    assert.equal(describeCall("other", circle), "other (arguments that cannot be shown)");
  });

  it("returns one printable line for any value", () => {
    const name = fc.oneof(
      fc.constantFrom("read", "write", "edit", "bash", "grep", "glob"),
      fc.string({ unit: "binary" }),
    );
    const text = fc.string({ unit: "binary", maxLength: 100 });
    const keys = [
      "path",
      "command",
      "pattern",
      "content",
      "oldText",
      "newText",
      "glob",
      "offset",
      "limit",
    ];
    const args = fc.oneof(
      fc.anything(),
      fc.dictionary(fc.constantFrom(...keys), fc.oneof(text, fc.anything())),
    );
    fc.assert(
      fc.property(name, args, (tool, value) => {
        const line = describeCall(tool, value);
        assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
        assert.ok(line.length < 2200);
      }),
      { numRuns: sweep({ long: 1000, short: 250 }) },
    );
  });
});
