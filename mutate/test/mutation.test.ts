import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Wire } from "../acceptors/accept.ts";
import type { Held } from "../acceptors/verdict.ts";
import { splitEvents } from "../event-stream.ts";
import { canonicalNode, canonicalValue, parseJsonText } from "../json-text.ts";
import { applyMutation, formatMutation, parseMutation } from "../mutation.ts";
import { kindOf } from "../legal-kinds.ts";
import { planMutants } from "../plan.ts";
import { body, chunk, done, fragment } from "./wire-events.ts";

const stream = body(
  ": keep-alive\n\n",
  chunk({ content: "Hello" }),
  chunk(fragment(0, '{"a":1}', "f")),
  chunk(fragment(1, "{}", "g")),
  chunk({}, "tool_calls"),
  done,
);
const events = splitEvents(stream);

function after(how: string): string {
  return Buffer.concat(applyMutation("openai-chat", events, parseMutation(how))).toString();
}

describe("a mutation", () => {
  it("has a text form from which it can be made again", () => {
    for (const how of ["lose:3", "double:1:4", "swap:2:9", "cut:3:17", "error-json:0"])
      assert.equal(formatMutation(parseMutation(how)), how);
    const moved = { kind: "move", at: 2, path: "id", value: '"a=b,c/d"' } as const;
    assert.deepEqual(parseMutation(formatMutation(moved)), moved);
    assert.throws(() => parseMutation("forget:1"), /No such mutation/);
  });

  it("drops, duplicates, swaps and cuts events as bytes", () => {
    const [comment = "", hello = ""] = events.map((event) => Buffer.from(event).toString());
    const rest = Buffer.concat(events.slice(2)).toString();
    assert.equal(after("lose:0"), hello + rest);
    assert.equal(after("double:1:0"), hello + comment + hello + rest);
    assert.equal(after("swap:0:1"), hello + comment + rest);
    assert.equal(after("cut:1:5"), comment + hello.slice(0, 5));
  });

  it("changes an index or an end word and leaves every other byte as it was", () => {
    const text = Buffer.from(stream).toString();
    assert.equal(
      after("move:3:choices.0.delta.tool_calls.0.index=0"),
      text.replace('"index":1', '"index":0'),
    );
    assert.equal(
      after("end:4:choices.0.finish_reason=%22cancelled%22"),
      text.replace('"tool_calls"}', '"cancelled"}'),
    );
  });

  it("adds a second end that contains nothing else", () => {
    const copy = after("end-after:4:choices.0.finish_reason=%22cancelled%22").split("\n\n")[5];
    assert.deepEqual(JSON.parse(copy?.slice("data: ".length) ?? ""), chunk({}, "cancelled"));
  });

  it("adds errors in the form of the wire, and as plain lines", () => {
    assert.match(after("error-object:0"), /^data: \{"error":\{/);
    assert.match(after("error-json:0"), /^\{"error":.*\n: keep-alive/);
    assert.match(after("error-text:0"), /^upstream connect error.*\n\n: keep-alive/);
  });
});

describe("a plan", () => {
  const plan = (seed: string) => [...planMutants("openai-chat", events, 300, seed)];
  const ids = (seed: string) => plan(seed).map(({ how }) => how);

  it("is the same for the same seed, and differs for another seed", () => {
    assert.deepEqual(ids("1"), ids("1"));
    assert.notDeepEqual(ids("1"), ids("2"));
  });

  it("has no two mutants with the same bytes, and none equal to the original stream", () => {
    const bodies = plan("1").map((mutant) => Buffer.concat(mutant.events).toString());
    assert.equal(new Set(bodies).size, 300);
    assert.ok(!bodies.includes(Buffer.from(stream).toString()));
  });

  it("contains every kind of mutation, alone and combined with another", () => {
    const kinds = new Set(plan("1").flatMap(({ mutations }) => mutations.map(({ kind }) => kind)));
    const expected = ["lose", "double", "swap", "move", "end", "end-after", "cut"];
    const errors = ["error-object", "error-json", "error-text"];
    assert.deepEqual(kinds, new Set([...kinds, ...expected, ...errors]));
    assert.deepEqual(new Set(plan("1").map(({ mutations }) => mutations.length)), new Set([1, 2]));
  });
});

describe("exact JSON", () => {
  const canonical = (text: string): string => {
    const node = parseJsonText(text);
    return node === undefined ? "no JSON" : canonicalNode(node);
  };

  it("compares numbers digit by digit", () => {
    assert.equal(canonical("1.50e3"), canonical("1500"));
    assert.equal(canonical("-0.0"), canonical("0"));
    assert.equal(canonical("1E-7"), canonicalValue(1e-7));
    const digits = "12345678901234567890";
    assert.notEqual(canonical(digits), canonicalValue(Number(digits)));
    assert.notEqual(canonical("1e400"), canonicalValue(Infinity));
  });

  it("compares objects by their entries, in any order", () => {
    const value = { __proto__: null, b: [true, null, "é\n"], a: { "": 1 } };
    assert.equal(canonical(' {"b":[true,null,"\\u00e9\\n"] , "a":{"":1}}'), canonicalValue(value));
    assert.equal(canonical('{"a":1,"a":2}'), canonicalValue({ a: 2 }));
    assert.equal(canonical("{'a':1}"), "no JSON");
  });

  it("reports the path of each value", () => {
    const text = '{"a": [1, {"b": "x\\"y"}]}';
    const node = parseJsonText(text);
    assert.ok(node?.kind === "object");
    const list = node.entries.get("a");
    assert.equal(text.slice(list?.start, list?.end), '[1, {"b": "x\\"y"}]');
  });
});

describe("a kind of legal mutant", () => {
  const call = { id: "call_0", name: "f", arguments: "{}" };
  const other = { id: "call_1", name: "g", arguments: '{"a":1}' };
  const whole: Held = { text: "Hello", calls: [call, other], ending: "complete" };
  const kind = (wire: Wire, held: Partial<Held>, ...how: string[]) =>
    kindOf(wire, whole, { ...whole, ...held }, how.map(parseMutation));

  it("describes what changed", () => {
    const names = [
      kind("google-generate", {}, "lose:0"),
      kind("google-generate", { text: "Hel" }, "lose:0"),
      kind("google-generate", { calls: [other, call] }, "swap:0:1"),
      kind("google-generate", { calls: [call, call] }, "lose:1", "double:0:0"),
      kind("google-generate", { calls: [call, { ...other, id: "x" }] }, "move:1:id=x"),
      kind("google-generate", { calls: [call, { ...other, arguments: "{}" }] }, "lose:1"),
      kind("google-generate", { calls: [], ending: "failed" }, "error-object:0"),
    ];
    assert.deepEqual(names, [
      { name: "the same answer", isListed: true },
      { name: "unnoticed: text", isListed: true },
      { name: "unnoticed: order of calls", isListed: true },
      { name: "unnoticed: call doubled, call lost", isListed: true },
      { name: "unnoticed: id", isListed: true },
      { name: "unnoticed: arguments", isListed: true },
      { name: "the server says that it failed", isListed: true },
    ]);
  });

  it("is left out when the wire would notice it, or when no mutation explains it", () => {
    assert.equal(kind("openai-responses", { text: "Hel" }, "lose:0").isListed, false);
    assert.equal(kind("google-generate", { text: "Hel" }, "move:0:index=1").isListed, false);
    assert.equal(kind("openai-chat", { calls: [call, call, other] }, "double:0:0").isListed, false);
    assert.equal(kind("google-generate", {}, "error-text:0").isListed, false);
    assert.equal(kind("openai-chat", {}, "error-text:0").isListed, true);
    assert.equal(kind("openai-chat", { ending: "failed" }, "lose:0").isListed, false);
  });
});
