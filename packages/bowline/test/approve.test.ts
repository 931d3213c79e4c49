import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import type { BeforeToolCallContext, BeforeToolCallResult } from "@bowline/core";
import { createApprover } from "../src/cli/approve.ts";
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
  options: { yes?: boolean; noTerminal?: boolean; signal?: AbortSignal } = {},
): Promise<Asked> {
  const input = new PassThrough();
  const output = new PassThrough();
  let shown = "";
  let interrupted = 0;
  output.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    if (text.includes("Allow?")) {
      const answer = answers.shift();
      if (answer === "\u0004") input.end();
      else if (answer !== undefined) input.write(answer);
    }
  });
  const approve = createApprover({
    yes: options.yes ?? false,
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

  it('approves later calls of the same tool, and no other, after "always"', async () => {
    const { results, shown } = await ask(
      [bash, bash, ["write", { path: "a", content: "x" }]],
      ["a\n", "n\n"],
    );
    assert.deepEqual(
      results.map((result) => result?.block ?? false),
      [false, false, true],
    );
    assert.equal(shown.split("Allow?").length - 1, 2);
  });

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
