import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { commandWords, whyNotPlain } from "../../src/policy/command-words.ts";
import {
  covers,
  defaultRules,
  judge,
  patternOf,
  type Call,
  type PolicyRule,
} from "../../src/policy/policy.ts";
import { loadRules } from "../../src/policy/rules.ts";
import { temporary } from "../command.ts";
import { cpuMs } from "../../../../test/support/cpu-time.ts";

const bash = (
  command: string,
): { tool: string; args: { command: string }; sessionKey: string } => ({
  tool: "bash",
  args: { command },
  sessionKey: "s",
});
const allow = (pattern: string): PolicyRule => ({ action: "allow", tool: "bash", pattern });

describe("the words of a command", () => {
  it("are split when they are plain, part by part", () => {
    assert.deepEqual(commandWords("git log -n1 'a b' \"c d\" && ls | wc -l"), [
      ["git", "log", "-n1", "a b", "c d"],
      ["ls"],
      ["wc", "-l"],
    ]);
  });

  it("are split at line feeds, and silent redirections are left out", () => {
    const split = [["a"], ["b", "c"]];
    for (const command of ["a\nb c", "\na\n\n b c\n", "a &&\n b c", "a |\nb c"])
      assert.deepEqual(commandWords(command), split, command);
    for (const command of [
      "a 2>&1 | b c",
      "a >/dev/null 2>&1; b c",
      "a 2> /dev/null&&b c </dev/null",
    ])
      assert.deepEqual(commandWords(command), split, command);
    for (const command of [
      "a 2>&12",
      "a >/dev/nullx",
      "a 2>&1x",
      "a 2>b",
      "a\n;b",
      "a &&",
      "a\n&& b",
      ">/dev/null",
    ])
      assert.equal(commandWords(command), undefined, command);
  });

  it("come with a reason if they are not split", () => {
    const reasons: [string, string][] = [
      ["git log $(rm x)", 'it has an expansion: "$(rm x)"'],
      ["git log $(cat the-last-name.txt)", 'it has an expansion: "$(cat the-last-name.…"'],
      ["git add *.ts; git log", 'it has a pattern for file names: "*.ts"'],
      ["git log > x", 'it has a redirection: "> x"'],
      ["git log 2> x", 'it has a redirection: "2> x"'],
      ["a & b", 'it has a command in the background: "& b"'],
      ['a "$b"', 'it has a quote with an expansion, or without its end: "\\"$b\\""'],
      ["A=1 b", "A=1 sets a variable"],
      ["/usr/bin/env b", "env runs other commands"],
      ["alias a=b", "alias changes what later commands do"],
      ["a;", "a command is empty"],
    ];
    for (const [command, reason] of reasons) assert.equal(whyNotPlain(command), reason);
    assert.equal(whyNotPlain("a 'b' && c"), undefined);
  });

  it("are not split when bash could expand them", () => {
    const commands = [
      "echo $HOME",
      "a `b`",
      "a $(b)",
      "a > b",
      "a < b",
      "a &",
      "a & b",
      "a *",
      "~/a",
      "(a)",
      "{ a; }",
    ];
    const more = [
      "A=1 b",
      "eval 'rm x'",
      "sudo ls",
      "bash -c ls",
      "a && ",
      "",
      "a 'b",
      'a "$b"',
      "a # b",
      "a ;; b",
      "!a",
      "a\\ b",
    ];
    for (const command of [...commands, ...more])
      assert.equal(commandWords(command), undefined, command);
  });

  it("never contain a character that bash expands, for any command", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...Array.from("ab '\"$`\\&|;<>(){}*?~!#=\n-")) }),
        (command) => {
          const unquoted = command.replaceAll(/'[^']*'|"[^"]*"/g, "");
          if (commandWords(command) !== undefined)
            assert.doesNotMatch(unquoted, /[$`\\<>(){}*?~!#]/);
        },
      ),
    );
  });
});

describe("the rules", () => {
  it("allow read-only tools, and ask about the rest", () => {
    const action = (tool: string): string =>
      judge(defaultRules, { tool, args: { path: "a" }, sessionKey: "s" }).action;
    assert.deepEqual(["read", "grep", "glob", "write", "edit", "bash", "else"].map(action), [
      "allow",
      "allow",
      "allow",
      "ask",
      "ask",
      "ask",
      "ask",
    ]);
  });

  it("let deny win over ask, and ask over allow, in any order", () => {
    const rules: PolicyRule[] = [
      { action: "allow", tool: "*" },
      { action: "ask", tool: "bash", pattern: "git push *" },
      { action: "deny", tool: "bash", pattern: "rm *" },
    ];
    for (const order of [rules, rules.toReversed()]) {
      assert.equal(judge(order, bash("ls")).action, "allow");
      assert.equal(judge(order, bash("git push origin")).action, "ask");
      assert.equal(judge(order, bash("rm x")).action, "deny");
      assert.equal(judge(order, bash("ls && rm x")).action, "deny");
      assert.equal(judge(order, bash("ls $(rm x)")).action, "ask");
    }
  });

  it("require every part of a chain to be allowed", () => {
    const rules = [allow("git status"), allow("wc *")];
    assert.equal(judge(rules, bash("git status | wc -l")).action, "allow");
    assert.equal(judge(rules, bash("git status && rm x")).action, "ask");
    assert.equal(judge(rules, bash("git status; git status")).action, "allow");
  });

  it("match whole words", () => {
    assert.equal(covers("git log *", bash("git log -1 --stat")), true);
    assert.equal(covers("git log *", bash("git logx")), false);
    assert.equal(covers("git", bash("git push")), false);
    assert.equal(covers("git *", bash("gitx push")), false);
    assert.equal(covers("npm run test:*", bash("npm run test:unit")), true);
    assert.equal(covers("a.b", bash("axb")), false);
  });

  it("match paths, and ask about paths that lead up or away", () => {
    const write = (path: string): { tool: string; args: { path: string }; sessionKey: string } => {
      return { tool: "write", args: { path }, sessionKey: "s" };
    };
    const rules: PolicyRule[] = [
      { action: "allow", tool: "write", pattern: "src/**" },
      { action: "deny", tool: "write", pattern: "src/secret/*" },
    ];
    assert.equal(judge(rules, write("src/a/b.ts")).action, "allow");
    assert.equal(judge(rules, write("./src/b.ts")).action, "allow");
    assert.equal(judge(rules, write("src/secret/key")).action, "deny");
    for (const path of ["other.ts", "src/../etc", "/src/a", "~/src/a", "src\\a", "C:/src"])
      assert.equal(judge(rules, write(path)).action, "ask", path);
  });

  it("match a path in every notation", () => {
    const rules: PolicyRule[] = [
      { action: "allow", tool: "write" },
      { action: "deny", tool: "write", pattern: "src/secret/*" },
    ];
    for (const path of [
      "src//secret/key",
      "src/./secret/key",
      "././src/secret/key",
      "src/secret///./key",
      "src/secret/key/",
    ])
      assert.equal(
        judge(rules, { tool: "write", args: { path }, sessionKey: "s" }).action,
        "deny",
        path,
      );
  });

  it("match in linear time, whatever a model calls a file", () => {
    const from = cpuMs();
    const write = (path: string): Call => ({ tool: "write", args: { path }, sessionKey: "s" });
    assert.equal(covers("**/a/**/b/**/c.ts", write("a/b/".repeat(20_000))), false);
    assert.equal(covers("**/a/**/b/**/c.ts", write(`${"a/b/".repeat(20_000)}c.ts`)), true);
    assert.equal(covers("x *a*b*a*b*c", bash(`x '${"ab".repeat(20_000)}'`)), false);
    assert.ok(cpuMs() - from < 5000);
  });

  it("interpret stars as the equivalent regular expression does", () => {
    const text = (units: string, maxLength: number): fc.Arbitrary<string> =>
      fc.string({ unit: fc.constantFrom(...Array.from(units)), minLength: 1, maxLength });
    const stars: Readonly<Record<string, string>> = {
      "*": "[^/]*",
      "**": ".*",
      "**/": "(?:.*/)?",
      ".": String.raw`\.`,
    };
    fc.assert(
      fc.property(text("ab/.**", 8), text("ab/", 9), (pattern, path) => {
        fc.pre(!pattern.startsWith("./") && !/^\/|\/\/|\/$/.test(path));
        const like = new RegExp(
          `^${pattern.replaceAll(/\*\*\/|\*\*|[*.]/g, (found) => stars[found] ?? "")}$`,
        );
        assert.equal(
          covers(pattern, { tool: "write", args: { path }, sessionKey: "s" }),
          like.test(path),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it("allow exactly the call in question by the offered pattern", () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z.*-]{1,4}$/), { minLength: 1, maxLength: 4 }),
        (words) => {
          const call = bash(words.join(" "));
          const pattern = patternOf(call);
          if (pattern === undefined) return;
          assert.equal(covers(pattern, call), true);
          assert.equal(covers(pattern, bash(`${words.join(" ")} more`)), false);
        },
      ),
    );
  });

  it("are stored in a file, and an invalid file is an error", async () => {
    await using folder = await temporary();
    const file = join(folder.path, "sub", "policy.json");
    const rules = await loadRules([], file);
    await Promise.all([rules.add(allow("ls")), rules.add(allow("pwd")), rules.add(allow("ls"))]);
    const again = await loadRules([], file);
    assert.equal(again.judge(bash("ls && pwd")).action, "allow");
    assert.equal(
      (JSON.parse(await readFile(file, "utf8")) as { rules: unknown[] }).rules.length,
      2,
    );
    await writeFile(file, '{"rules": "all"}');
    await assert.rejects(loadRules([], file), /not a list of rules/);
  });

  it("are on the disk when add() resolves, also when the same rule was added just before", async () => {
    await using folder = await temporary();
    const file = join(folder.path, "policy.json");
    const rules = await loadRules([], file);
    const first = rules.add(allow("ls"));
    await rules.add(allow("ls"));
    assert.deepEqual(JSON.parse(await readFile(file, "utf8")), { rules: [allow("ls")] });
    await first;
  });

  it("do not apply when they could not be stored, and are stored by a retry", async () => {
    await using folder = await temporary();
    const file = join(folder.path, "gateway", "policy.json");
    const rules = await loadRules([], file);
    await writeFile(join(folder.path, "gateway"), "in the way");
    await assert.rejects(rules.add(allow("ls")));
    assert.equal(rules.judge(bash("ls")).action, "ask");
    await rm(join(folder.path, "gateway"));
    await rules.add(allow("ls"));
    assert.equal(rules.judge(bash("ls")).action, "allow");
    assert.deepEqual(JSON.parse(await readFile(file, "utf8")), { rules: [allow("ls")] });
  });
});
