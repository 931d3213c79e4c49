import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import type { BeforeToolCallContext, BeforeToolCallResult } from "@bowline/core";
import { createApprover } from "../src/cli/approve.ts";
import { createPermissions, type Permissions } from "../src/policy/permissions.ts";
import { styleFor } from "../src/terminal.ts";

interface Asked {
  readonly results: (BeforeToolCallResult | undefined)[];
  readonly shown: string;
  readonly interrupted: number;
}

/** Asks about the calls in order, and types each answer when its question appears. */
async function ask(
  calls: [name: string, args: object][],
  answers: string[],
  options: {
    permissions?: Permissions;
    yes?: boolean;
    noTerminal?: boolean;
    signal?: AbortSignal;
  } = {},
): Promise<Asked> {
  const input = new PassThrough();
  const output = new PassThrough();
  let shown = "";
  let interrupted = 0;
  output.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    if (/(?:Allow\? .*|no\)): $/.test(text)) {
      const answer = answers.shift();
      if (answer === "\u0004") input.end();
      else if (answer !== undefined) input.write(answer);
    }
  });
  const approve = createApprover({
    yes: options.yes ?? false,
    ...(options.permissions !== undefined && { permissions: options.permissions }),
    style: styleFor({ write: () => {} }, {}),
    onInterrupt: () => interrupted++,
    ...(options.noTerminal !== true && { terminal: { input, output } }),
  });
  const results: Asked["results"] = [];
  for (const [name, args] of calls) {
    const context = {
      toolCall: { type: "toolCall", id: "1", name, arguments: {} },
      args,
    } as unknown as BeforeToolCallContext;
    results.push(await approve(context, options.signal));
  }
  return { results, shown, interrupted };
}

const bash: [string, object] = ["bash", { command: "rm -r build\necho done" }];

describe("the approval prompt", () => {
  it("shows exactly what will run, and runs it only after a yes", async () => {
    const { results, shown } = await ask([bash, bash, bash, bash], ["y\n", "n\n", "\n", "sure\n"]);
    assert.match(shown, /bash wants to run:[\s\S]* {2}\$ rm -r build\n {2}\$ echo done\n/);
    assert.deepEqual(
      results.map((result) => result?.block ?? false),
      [false, true, true, true],
    );
    assert.match(results[1]?.reason ?? "", /said no/);
  });

  it("remembers a suggested rule for the session, and asks about calls that it does not cover", async () => {
    const log: [string, object] = ["bash", { command: "git log -1" }];
    const { results, shown } = await ask(
      [log, ["bash", { command: "git log --oneline" }], ["bash", { command: "git push" }]],
      ["r\n", "2\n", "s\n", "n\n"],
    );
    assert.deepEqual(
      results.map((result) => result?.block ?? false),
      [false, false, true],
    );
    assert.match(shown, /1 {2}bash\(git log -1\) {2}also allows: nothing else/);
    assert.match(shown, /2 {2}bash\(git log \*\) {2}also allows: every command that begins with/);
    assert.equal(shown.split("Allow?").length - 1, 2);
  });

  it("takes an edited rule, and repeats the question for a text that is none", async () => {
    const log: [string, object] = ["bash", { command: "git log -1" }];
    const { results, shown } = await ask(
      [log, log],
      ["r\n", "Bash(x)\n", "s\n", "bash(git *)\n", "s\n"],
    );
    assert.deepEqual(results, [undefined, undefined]);
    assert.match(shown, /there is no tool Bash. Did you mean bash\?/);
  });

  it("denies when the rule does not cover the call, and when no scope is chosen", async () => {
    const log: [string, object] = ["bash", { command: "git log -1" }];
    for (const answers of [
      ["r\n", "bash(ls)\n", "s\n", "\n"],
      ["r\n", "1\n", "\n"],
      ["r\n", "\n"],
    ])
      assert.equal((await ask([log], answers)).results[0]?.block, true, answers.join());
  });

  it("offers no rule for a command that cannot be judged", async () => {
    const { shown } = await ask([["bash", { command: "echo $(date)" }]], ["r\n"]);
    assert.doesNotMatch(shown, /remember/);
    assert.match(
      shown,
      /cannot be judged: it has a quote|cannot be judged: it has an expansion: "\$\(date\)"/,
    );
  });

  const timeout = 10_000; // a question without an answer waits for ever
  it(
    "is skipped for a call that a rule allows or denies, also with --yes",
    { timeout },
    async () => {
      const permissions = createPermissions({
        sources: [
          {
            path: "x.json",
            scope: "user",
            permissions: { allow: ["bash(ls)"], ask: ["bash(git push *)"], deny: ["bash(rm *)"] },
          },
        ],
      });
      const calls: [string, object][] = ["ls", "rm x", "git push"].map((command) => [
        "bash",
        { command },
      ]);
      const asked = await ask(calls, ["n\n"], { permissions });
      assert.deepEqual(
        asked.results.map((result) => result?.block ?? false),
        [false, true, true],
      );
      assert.equal(asked.results[1]?.reason, "Denied: bash(rm *) (x.json) denies it.");
      assert.match(asked.shown, /bash\(git push \*\) \(x\.json\) asks about it/);
      const withYes = await ask(calls, [], { permissions, yes: true });
      assert.deepEqual(
        withYes.results.map((result) => result?.block ?? false),
        [false, true, false],
      );
    },
  );

  it("is skipped for read-only tools and with --yes", async () => {
    assert.deepEqual(
      (
        await ask(
          [
            ["read", { path: "a" }],
            ["grep", {}],
            ["glob", {}],
          ],
          [],
        )
      ).results,
      [undefined, undefined, undefined],
    );
    assert.deepEqual((await ask([bash], [], { yes: true })).results, [undefined]);
  });

  it("denies when the input ends, when the run is aborted, and on Ctrl-C, which also aborts the run", async () => {
    assert.equal((await ask([bash], ["\u0004"])).results[0]?.block, true);
    assert.equal(
      (await ask([bash], [], { signal: AbortSignal.timeout(10) })).results[0]?.block,
      true,
    );
    const { results, interrupted } = await ask([bash], ["\u0003"]);
    assert.deepEqual([results[0]?.block, interrupted], [true, 1]);
  });

  it("escapes control characters that the model wrote", async () => {
    const { shown } = await ask(
      [["bash", { command: "echo \u001b[2K\u001b[1A harmless\r# " }]],
      ["n\n"],
    );
    assert.equal(/\u001b\[1A/.test(shown.split("Allow?")[0] ?? ""), false);
  });
});
