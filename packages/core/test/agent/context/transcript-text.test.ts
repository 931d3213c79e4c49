import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { estimateTokens } from "../../../src/agent/context/tokens.ts";
import { transcriptText } from "../../../src/agent/context/transcript-text.ts";
import { turn, user } from "./rig.ts";

/** Twenty turns whose results are of 40,000 characters, which is 10,000 tokens. */
const long = Array.from({ length: 20 }, (_, at) => turn(at, 40_000)).flat();

/** The length of the longest result in the text, in tokens. */
function longestResult(text: string): number {
  const results = text.split(/\n\n\[/).filter((part) => part.startsWith("result of"));
  return Math.max(...results.map((part) => estimateTokens(part)));
}

describe("the text of a conversation", () => {
  it("shortens long messages to the first of 2000, 500 and 125 tokens that fits", () => {
    for (const [maxTokens, length] of [
      [60_000, 2000],
      [30_000, 500],
      [6_000, 125],
    ] as const) {
      const text = transcriptText("", long, maxTokens);
      const longest = longestResult(text);
      assert.ok(longest <= length + 10 && longest > length / 2, `${longest} of ${length}`);
      assert.ok(estimateTokens(text) <= maxTokens + 20);
      assert.ok(!/\]\n\[\d+ characters left out\]\n/.test(text.slice(0, 200)), "begins with a cut");
      assert.match(text, /\[result of read\]\n19/, "has its end");
    }
  });

  it("names files and images, with what is known of them", () => {
    const content = [
      { type: "file", name: "a.pdf", mimeType: "application/pdf", data: "AA==" },
      { type: "file", mimeType: "text/csv", data: "AA==" },
      { type: "image", mimeType: "image/png", data: "AA==" },
    ] as const;
    assert.equal(
      transcriptText("", [{ role: "user", content: [...content], timestamp: 1 }], 1000),
      "<conversation>\n[user]\n(a file a.pdf: application/pdf)\n(a file: text/csv)\n(an image: image/png)\n</conversation>",
    );
  });

  it("is truncated as a whole when the shortest length does not fit", () => {
    for (const maxTokens of [200, 1000]) {
      const text = transcriptText("", long, maxTokens);
      assert.ok(estimateTokens(text) <= maxTokens + 20, `${estimateTokens(text)}`);
      assert.match(text, /characters left out/);
    }
  });

  it("begins with the earlier summary, in a quarter of it at most", () => {
    const earlier = "a word ".repeat(4000);
    const text = transcriptText(earlier, [user("Go on")], 1000);
    const [summary = "", rest = ""] = text.split("\n</earlier_summary>\n\n");
    assert.ok(estimateTokens(summary) <= 260 && estimateTokens(summary) > 200);
    assert.equal(rest, "<conversation>\n[user]\nGo on\n</conversation>");
    const whole = transcriptText(earlier, long, 1000);
    assert.ok(estimateTokens(whole) <= 1020, `${estimateTokens(whole)}`);
    assert.equal(
      transcriptText("Short.", [user("Go on")], 1000),
      "<earlier_summary>\nShort.\n</earlier_summary>\n\n<conversation>\n[user]\nGo on\n</conversation>",
    );
  });
});
