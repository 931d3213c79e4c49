import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import type { AgentMessage } from "../../../src/agent/index.ts";
import { cutPoints } from "../../../src/agent/context/cut.ts";
import {
  dropImages,
  dropThinking,
  keepLastTurns,
  shortenToolResults,
} from "../../../src/agent/context/prune.ts";
import { shortenText } from "../../../src/agent/context/shorten.ts";
import { estimateTokens } from "../../../src/agent/context/tokens.ts";
import type { Message } from "../../../src/llm/message.ts";
import { assertAccepted, longTranscripts, partedBy, sumOf, task, turn, user } from "./rig.ts";
import { code } from "../../../../../test/support/error-code.ts";
import { texts } from "../../providers/transcripts.ts";

type Prune = (messages: readonly AgentMessage[]) => AgentMessage[];

const prunes: Record<string, Prune> = {
  "keepLastTurns(1)": (messages) => keepLastTurns(messages, 1),
  "keepLastTurns(3)": (messages) => keepLastTurns(messages, 3),
  "shortenToolResults, cleared": (messages) => shortenToolResults(messages, { keep: 1, batch: 1 }),
  "shortenToolResults to 20 tokens": (messages) =>
    shortenToolResults(messages, { keep: 0, maxTokens: 20 }),
  dropImages: (messages) => dropImages(messages, { keep: 1 }),
  "dropImages, all": (messages) => dropImages(messages, { keep: 0 }),
  dropThinking,
};

const forAll = (check: (messages: Message[]) => void): void =>
  fc.assert(fc.property(longTranscripts, check), { numRuns: 250, seed: 20261121 });

for (const [name, prune] of Object.entries(prunes)) {
  describe(name, () => {
    it("gives a transcript that strict servers accept, for any input", () =>
      forAll((messages) => assertAccepted(prune(messages))));

    it("never grows the transcript, and is idempotent", () =>
      forAll((messages) => {
        const pruned = prune(messages);
        assert.ok(sumOf(pruned) <= sumOf(messages));
        assert.deepEqual(prune(pruned), pruned);
      }));

    it("keeps the last user message, and does not change its input", () =>
      forAll((messages) => {
        const before = JSON.stringify(messages);
        const last = (list: readonly AgentMessage[]): unknown =>
          list.findLast(({ role }) => role === "user");
        assert.deepEqual(last(prune(messages)), last(messages));
        assert.equal(JSON.stringify(messages), before);
      }));
  });
}

describe("cutPoints()", () => {
  it("returns exactly the places that separate no call from its result", () =>
    forAll((messages) => {
      const points = new Set(cutPoints(messages));
      for (let index = 1; index < messages.length; index++) {
        assert.equal(points.has(index), partedBy(messages, index).length === 0, `at ${index}`);
      }
    }));
});

describe("keepLastTurns", () => {
  it("counts a model call, its tools and the preceding messages as one turn", () => {
    const messages = [user("A"), ...turn(1), ...turn(2), user("B"), ...turn(3)];
    assert.deepEqual(keepLastTurns(messages, 1), messages.slice(5));
    assert.deepEqual(keepLastTurns(messages, 2), messages.slice(3));
    assert.deepEqual(keepLastTurns(messages, 9), messages);
  });

  it("keeps the task of a long run", () => {
    const messages = task(20);
    assert.deepEqual(keepLastTurns(messages, 2), [messages[0], ...messages.slice(-4)]);
  });

  it("refuses to keep nothing", () =>
    assert.throws(() => keepLastTurns([], 0), code("invalid_argument")));
});

describe("shortenToolResults", () => {
  const textsOf = (messages: readonly AgentMessage[]): string[] =>
    messages.flatMap((message) =>
      message.role === "toolResult" ? [JSON.stringify(message.content)] : [],
    );

  it("says how much was cut, and keeps details for the program", () => {
    const [first, second] = turn(1, 5000) as [Message, Message];
    const detailed = { ...second, details: { lines: 90 } } as Message;
    const [, short] = shortenToolResults([first, detailed], { keep: 0 });
    assert.deepEqual(short, {
      ...detailed,
      content: [{ type: "text", text: "[5000 characters left out]" }],
    });
  });

  it("keeps the beginning and the end within a size", () => {
    const [, result] = shortenToolResults(turn(1, 5000), { keep: 0, maxTokens: 50 });
    const text = textsOf([result as AgentMessage])[0] ?? "";
    assert.match(text, /^.{10,40}1: +word.*\[\d+ characters left out\].*word /);
    assert.ok(sumOf([result as AgentMessage]) <= 54);
  });

  it("shortens old results in batches, so that the prompt stays cacheable in between", () => {
    const changed = (turns: number): number =>
      textsOf(shortenToolResults(task(turns), { keep: 4 })).filter((text) =>
        text.includes("left out"),
      ).length;
    assert.deepEqual([4, 5, 7, 8, 11, 12].map(changed), [0, 0, 0, 4, 4, 8]);
  });
});

describe("a shortened result", () => {
  it("replaces images that do not fit by a note", () => {
    const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" } as const;
    const [call, result] = turn(1) as [Message, Message];
    const messages = [call, { ...result, content: [image, image] } as Message];
    const left = (maxTokens: number): unknown =>
      shortenToolResults(messages, { keep: 0, maxTokens })[1]?.content;
    const note = { type: "text", text: "[image/png left out]" };
    assert.deepEqual([100, 2000, 4000].map(left), [
      [note, note],
      [image, note],
      [image, image],
    ]);
  });
});

describe("dropImages", () => {
  it("replaces the oldest images by a note, in results and user messages", () => {
    const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" } as const;
    const [first, second] = turn(1) as [Message, Message];
    const messages = [
      { ...user(""), content: [image, image] },
      first,
      { ...second, content: [image] },
    ] as Message[];
    const left = dropImages(messages, { keep: 1 });
    assert.deepEqual(
      left.map((message) => JSON.stringify(message.content).includes("[image/png left out]")),
      [true, false, false],
    );
  });

  it("returns messages without a removed image as they are, so that their encoding stays cached", () => {
    const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" } as const;
    const messages = Array.from({ length: 3 }, () => ({ ...user(""), content: [image] }));
    const left = dropImages(messages, { keep: 2, batch: 1 });
    assert.deepEqual(
      left.map((message, at) => message === messages[at]),
      [false, true, true],
    );
  });
});

describe("dropThinking", () => {
  it("keeps the thinking since the last user message", () => {
    const [call, result] = turn(1) as [Message, Message];
    const thinking = { type: "thinking", thinking: "Hm.", thinkingSignature: "s" } as const;
    const thought = {
      ...call,
      content: [thinking, { ...(call.content as object[])[0], thoughtSignature: "id" }],
    } as Message;
    const messages = [user("A"), thought, result, user("B"), thought, result];
    assert.deepEqual(dropThinking(messages), [user("A"), call, result, user("B"), thought, result]);
    const plain = [user("A"), call, result, user("B")];
    assert.ok(dropThinking(plain).every((message, at) => message === plain[at]));
  });
});

describe("shortenText", () => {
  it("returns a text of exactly the limit unchanged", () => {
    const text = "One word and another. ".repeat(20);
    assert.equal(shortenText(text, estimateTokens(text)), text);
    assert.match(shortenText(text, estimateTokens(text) - 1), /characters left out/);
  });

  it("keeps a text that is no longer than a note", () => {
    assert.equal(shortenText("x".repeat(40), 1), "x".repeat(40));
    assert.equal(shortenText("x".repeat(41), 1), "[41 characters left out]");
  });

  it("shortens to the limit or to a bare note, and never splits a character", () => {
    const property = fc.property(fc.array(texts), fc.nat(80), (pieces, maxTokens) => {
      const text = pieces.join("").toWellFormed();
      const short = shortenText(text, maxTokens);
      assert.ok(
        estimateTokens(short) <= maxTokens ||
          /^\[\d+ characters left out\]$/.test(short) ||
          text.length <= 40,
      );
      assert.ok(short.isWellFormed());
      assert.equal(shortenText(short, maxTokens), short);
    });
    fc.assert(property, { numRuns: 500 });
    for (let size = 20; size < 60; size++)
      assert.ok(shortenText("🌍".repeat(100), size).isWellFormed());
  });
});
