/** Questions that one key answers: no key of prose does. */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { askKey } from "../../src/cli/ask-key.ts";
import { settle } from "../../../../test/support/manual-clock.ts";

interface Asked {
  readonly type: (text: string, afterMs: number) => Promise<void>;
  /** Undefined while nothing has answered. */
  readonly answer: () => string | undefined;
  readonly interrupted: () => number;
}

async function asked(typedBefore = "", signal?: AbortSignal): Promise<Asked> {
  const input = new PassThrough();
  const output = new PassThrough();
  if (typedBefore !== "") input.write(typedBefore);
  let time = 0;
  let interrupted = 0;
  let given: string | undefined;
  const onInterrupt = (): void => void interrupted++;
  const question = { terminal: { input, output }, onInterrupt, signal, now: () => time };
  void askKey("Allow? ", "yan", question).then((answer) => (given = answer));
  await settle();
  return {
    async type(text, afterMs) {
      time += afterMs;
      input.write(text);
      await settle();
    },
    answer: () => given,
    interrupted: () => interrupted,
  };
}

describe("a question that one key answers", () => {
  it("takes a letter without Enter, in either case, and Enter and Escape as no", async () => {
    for (const [key, answer] of Object.entries({
      y: "y",
      Y: "y",
      a: "a",
      n: "n",
      "\r": "",
      "\u001b": "",
      "\u0004": "",
    })) {
      const question = await asked();
      await question.type(key, 1000);
      assert.equal(question.answer(), answer);
    }
  });

  it("takes no key for 400 ms after one that was typed before it appeared", async () => {
    const question = await asked("tr");
    await question.type("y", 100);
    await question.type("\r", 399);
    assert.equal(question.answer(), undefined);
    await question.type("y", 400);
    assert.equal(question.answer(), "y");
  });

  it("is not answered by prose, typed or pasted, unless it begins with an answer", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.stringMatching(/^[b-mo-xzB-MO-XZ0-9 ][a-zA-Z0-9 \r]*$/),
        fc.array(fc.integer({ min: 0, max: 399 }), { minLength: 1 }),
        async (prose, gaps) => {
          const typed = await asked();
          for (const [index, key] of Array.from(prose).entries())
            await typed.type(key, gaps[index % gaps.length] ?? 0);
          assert.equal(typed.answer(), undefined);
          const pasted = await asked();
          await pasted.type(prose.replaceAll("\r", " "), 1000);
          assert.equal(pasted.answer(), undefined);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("takes a whole line that is no letter as an answer that is not yes", async () => {
    const question = await asked();
    await question.type("sure\n", 1000);
    assert.equal(question.answer(), "sure");
  });

  it("is interrupted by Ctrl-C at any time, and ends with the run", async () => {
    const question = await asked("prose");
    await question.type("\u0003", 1);
    assert.deepEqual([question.answer(), question.interrupted()], ["", 1]);
    const controller = new AbortController();
    const aborted = await asked("", controller.signal);
    controller.abort();
    await settle();
    assert.deepEqual([aborted.answer(), aborted.interrupted()], ["", 0]);
  });
});
