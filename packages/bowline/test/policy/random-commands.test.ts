/**
 * Random commands, run by bash where the rules allow them. The programs are stubs that log their
 * arguments. BOWLINE_POLICY_RUNS sets the number of commands.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import fc from "fast-check";
import { coverageOf } from "../../src/policy/match.ts";
import { createPermissions } from "../../src/policy/permissions.ts";
import { temporary } from "../command.ts";

const bash = "/bin/bash";
const skip = existsSync(bash) ? false : "there is no /bin/bash";
const runs = Number(process.env.BOWLINE_POLICY_RUNS ?? 500);
const BATCH = 2000;

const patterns = ["git log *", "git status", "ls *", "cat a", "echo *", "test *", "printf *"];
const programs = "git ls cat rm evil env xargs nohup awk sort hash A=1 a".split(" ");

const words = [
  "git log",
  "git status",
  "ls",
  "cat a",
  "echo",
  "test",
  "printf",
  "rm",
  "evil",
  "env",
  "xargs",
  "command",
  "builtin",
  "time",
  "nohup",
  "exec",
  "eval",
  "hash",
  "alias",
  "coproc",
  "function",
  "a",
  "b",
  "-x",
  "-1",
  "--output=x",
  "--",
  "x=1",
  "A=1",
  "PATH=.",
  "1",
  "2",
  ".",
  "./rm",
  "'q r'",
  '"d e"',
  "''",
  '""',
  "'$(rm)'",
  '"$(rm)"',
  "'`rm`'",
  "a'b'c",
  'r"m"',
  "r''m",
  "é",
  "​",
  "ｒｍ",
];
const joints = ["&&", "||", ";", "|", "\n", "&", ";;", "|&", "&&\n", "\r", "\t", " ", "\\\n", "\\"];
const odd = [
  "$(rm)",
  "`rm`",
  "$x",
  "${x:=rm}",
  "$((1))",
  "$'rm'",
  '$"rm"',
  "{rm,a}",
  "~",
  "*",
  "?",
  "[a]",
  "!",
  "#",
  "(",
  ")",
  "{ ",
  " }",
  "<<E\n",
  "<<<",
  "<(rm)",
  ">x",
  ">>x",
  "2>&1",
  ">/dev/null",
  "2>/dev/null",
  ">&2",
  "</dev/null",
  ">/dev/null/x",
  "&>x",
  "if ",
  " then ",
  " fi",
  "while ",
  "[[",
  "]]",
  "'",
  '"',
  "=",
  "%",
  "@(",
  "^",
  "-",
  ",",
  ":",
  "+",
  "/",
  "\0x".slice(1),
  "E\n",
  "f() ",
  "case",
  "in",
  "esac",
  "do",
  "done",
  "1>",
  "<",
];

const piece = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...words) },
  { weight: 5, arbitrary: fc.constantFrom(...joints) },
  { weight: 2, arbitrary: fc.constantFrom(...odd) },
);
const gap = fc.constantFrom(" ", " ", " ", " ", "");
const anything = fc
  .array(fc.tuple(piece, gap), { minLength: 1, maxLength: 9 })
  .map((parts) => parts.flat().join(""));
const plain = fc
  .tuple(
    fc.constantFrom("git log", "git status", "ls", "cat a", "echo", "'git' log", 'l"s"'),
    fc.array(fc.constantFrom(...words), { maxLength: 3 }),
    fc.constantFrom("", " ", " 2>&1", " >/dev/null", "\t"),
  )
  .map(([program, rest, end]) => [program, ...rest].join(" ") + end);
const chain = fc
  .tuple(plain, fc.array(fc.tuple(fc.constantFrom(...joints), plain), { maxLength: 3 }))
  .map((parts) => parts.flat(2).join(""));
/** A plain chain with something odd in the middle. */
const disturbed = fc
  .tuple(chain, fc.constantFrom(...odd, ...joints, ...words), fc.nat(60))
  .map(([text, more, at]) => text.slice(0, at) + more + text.slice(at));
const command = fc.oneof(anything, chain, disturbed, disturbed);

/** Runs commands in an empty folder. Returns the calls of programs, by command. */
async function run(folder: string, commands: readonly string[]): Promise<string[][][]> {
  const at = (name: string): string => join(folder, name);
  const [bin, empty, log, input] = [at("bin"), at("empty"), at("log"), at("input")];
  await rm(empty, { recursive: true, force: true });
  await mkdir(bin, { recursive: true });
  await mkdir(empty);
  const stub = `#!/bin/sh\nprintf '%s\\0' '\u0001' "\${0##*/}" "$@" >> '${log}'\n`;
  for (const name of programs) {
    await writeFile(join(bin, name), stub);
    await chmod(join(bin, name), 0o755);
  }
  await writeFile(log, "");
  await writeFile(input, commands.map((one) => `${one}\0`).join(""));
  const driver = `while IFS= read -r -d '' one; do printf '\\2\\0' >> '${log}'; ${bash} -c -- "$one" </dev/null >/dev/null 2>&1 || :; done < '${input}'`;
  await promisify(execFile)(bash, ["-c", driver], { cwd: empty, env: { PATH: bin } });
  assert.deepEqual(await readdir(empty), [], "a command created a file");
  const calls: string[][][] = [];
  for (const field of (await readFile(log, "utf8")).split("\0").slice(0, -1)) {
    if (field === "\u0002") calls.push([]);
    else if (field === "\u0001") calls.at(-1)?.push([]);
    else calls.at(-1)?.at(-1)?.push(field);
  }
  return calls;
}

describe("a random command that the rules allow", { skip }, () => {
  it("runs only programs with arguments that a rule covers", { timeout: 3_600_000 }, async () => {
    await using folder = await temporary();
    const rules = createPermissions({
      sources: [
        {
          path: "x",
          scope: "user",
          permissions: { allow: patterns.map((pattern) => `bash(${pattern})`) },
        },
      ],
    });
    const seed = Number(process.env.BOWLINE_POLICY_SEED ?? Date.now() % 2 ** 31);
    let [allowed, ran] = [0, 0];
    for (let done = 0; done < runs; done += BATCH) {
      const size = Math.min(BATCH, runs - done);
      const commands = fc
        .sample(command, { numRuns: size, seed: seed + done })
        .filter((one) => !one.includes("\0"))
        .filter((one) => rules.judge({ tool: "bash", args: { command: one } }).action === "allow");
      const calls = await run(folder.path, commands);
      assert.equal(calls.length, commands.length);
      for (const [at, executed] of calls.entries())
        for (const call of executed) {
          const isCovered = patterns.some(
            (pattern) => coverageOf(pattern, { kind: "words", words: call }).kind === "covered",
          );
          assert.ok(
            isCovered,
            `seed ${seed}: ${JSON.stringify(commands[at])} ran ${JSON.stringify(call)}`,
          );
        }
      allowed += commands.length;
      ran += calls.flat().length;
    }
    assert.ok(ran > runs / 50, `only ${ran} programs of ${allowed} allowed commands ran`);
    process.stderr.write(
      `${runs} commands, ${allowed} allowed, ${ran} programs run, seed ${seed}\n`,
    );
  });
});
