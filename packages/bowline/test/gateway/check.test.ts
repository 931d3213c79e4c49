/** Frames at the limits of what is accepted, and the errors of others. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  assertParams,
  idOf,
  issuesOf,
  parseFrame,
  toAuthFrame,
  toRequest,
} from "../../src/gateway/protocol/check.ts";
import { GatewayError } from "../../src/gateway/protocol/gateway-error.ts";
import { methods } from "../../src/gateway/protocol/schema.ts";

function refusal(work: () => unknown): [code: string, message: string] {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof GatewayError && error.frame.data);
    return [error.frame.data.code, error.message];
  }
  return assert.fail("nothing is refused");
}

const send = { sessionKey: "s", message: "Hi" };
const half = "\ud83d";

describe("a request", () => {
  it("has an id: a text of up to 200 characters, or a number", () => {
    const longest = "x".repeat(200);
    for (const id of ["", "a", longest, 0, -1.5, 1e300]) {
      assert.equal(idOf({ id }), id);
      assert.equal(toRequest({ id, method: "health.check" }).id, id);
    }
    for (const id of [`${longest}x`, NaN, Infinity, null, undefined, true, [], {}]) {
      assert.equal(idOf({ id }), null);
      assert.deepEqual(
        refusal(() => toRequest({ id, method: "health.check" })),
        ["bad_request", "A request needs an id: a number or a string of up to 200 characters."],
      );
    }
    for (const frame of [undefined, null, "text", 7, [{ id: 1 }]]) assert.equal(idOf(frame), null);
  });

  it("names an existing method", () => {
    for (const method of [undefined, null, 7, {}])
      assert.deepEqual(
        refusal(() => toRequest({ id: 1, method })),
        ["bad_request", "A request needs a method."],
      );
    for (const method of ["", "none", "toString", "__proto__"])
      assert.deepEqual(
        refusal(() => toRequest({ id: 1, method })),
        [
          "unknown_method",
          `There is no method ${JSON.stringify(method)}. The welcome frame lists all methods.`,
        ],
      );
    const [, message] = refusal(() => toRequest({ id: 1, method: "m".repeat(1000) }));
    assert.ok(message.includes(`"${"m".repeat(100)}"`), message);
  });

  it("may omit params if its method has none", () => {
    assert.deepEqual(toRequest({ id: 1, method: "health.check" }), {
      id: 1,
      method: "health.check",
      params: {},
    });
    assert.deepEqual(toRequest({ id: 1, method: "chat.send", params: send }).params, send);
    assert.equal(refusal(() => toRequest({ id: 1, method: "chat.send" }))[0], "bad_params");
  });

  it("has valid session keys, and ids without lone surrogates", () => {
    const units = "expected well-formed Unicode of 1 to 512 units of UTF-16";
    for (const [params, says] of [
      [{ ...send, sessionKey: half }, `sessionKey: ${units}`],
      [{ ...send, sessionKey: "🪢".repeat(257) }, `sessionKey: ${units}`],
      [{ ...send, idempotencyKey: half }, "idempotencyKey: expected well-formed Unicode"],
    ] as const)
      assert.deepEqual(
        refusal(() => assertParams("chat.send", params, "The params do")),
        ["bad_params", `The params do not fit: ${says}.`],
      );
    for (const params of [
      send,
      { ...send, sessionKey: "🪢".repeat(256) },
      { ...send, message: half },
    ])
      assertParams("chat.send", params, "The params do");
  });

  it("has params and a result that are objects", () => {
    for (const [name, { params, result }] of Object.entries(methods))
      assert.deepEqual([params["type"], result["type"]], ["object", "object"], name);
  });

  it("is JSON", () => {
    assert.deepEqual(parseFrame('{"a":1}'), { a: 1 });
    assert.deepEqual(
      refusal(() => parseFrame("{")),
      ["parse", "The frame is not JSON."],
    );
  });
});

describe("a value that does not fit a schema", () => {
  const schema = {
    type: "object",
    properties: {
      count: { type: "number" },
      list: { type: "array", items: { type: "number" } },
      in: { type: "object", properties: { text: { type: "string" } } },
    },
  };

  it("is reported with its path and both types, even if a model's value would be repaired", () => {
    for (const [value, path, kinds] of [
      [{ count: "7" }, "count", /number.*string/],
      [{ list: [1, "2"] }, "list[1]", /number.*string/],
      [{ list: "[1]" }, "list", /array.*string/],
      [{ in: { text: null } }, "in.text", /^expected nothing, received null$/],
      ["{}", "", /object.*string/],
    ] as const) {
      const [first, ...others] = issuesOf(schema, value);
      assert.deepEqual([first?.path, others], [path, []], JSON.stringify(value));
      assert.match(first?.message ?? "", kinds);
    }
    assert.deepEqual(issuesOf(schema, { count: 7, list: [1], in: { text: "" }, more: true }), []);
  });

  it("is reported with at most 200 characters of its path", () => {
    const name = "n".repeat(500);
    const long = { type: "object", properties: { [name]: { type: "number" } } };
    for (const value of ["7", {}])
      for (const { path } of issuesOf(long, { [name]: value }))
        assert.equal(path, name.slice(0, 200));
  });
});

describe("the first frame", () => {
  const frame = { type: "auth", token: "t" };

  it("has a token of up to 4096 characters, and may select events and name its client", () => {
    const events = Array.from({ length: 100 }, () => "chat.delta");
    for (const more of [
      {},
      { token: "x".repeat(4096) },
      { token: "" },
      { events: "all" },
      { events: [] },
      { events },
      { client: "" },
      { client: "c".repeat(200) },
    ])
      assert.deepEqual(toAuthFrame({ ...frame, ...more }), { ...frame, ...more });
    for (const more of [
      { type: "other" },
      { token: "x".repeat(4097) },
      { token: 7 },
      { token: undefined },
      { events: "some" },
      { events: [...events, "chat.delta"] },
      { events: ["chat.delta", 7] },
      { events: null },
      { client: "c".repeat(201) },
      { client: 7 },
      { client: null },
    ])
      assert.equal(toAuthFrame({ ...frame, ...more }), undefined, Object.keys(more).join());
    for (const other of [undefined, null, "auth", [frame]])
      assert.equal(toAuthFrame(other), undefined);
  });
});
