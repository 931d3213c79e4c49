/** The user whom a session's metadata names. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ownedBy, ownerIn, userOf } from "../../src/gateway/access/user.ts";

describe("the user in a session's metadata", () => {
  it("is the one who created the session", () => {
    for (const user of [{}, { id: "ann" }, { sessions: "ann/" }, { id: "ann", sessions: "ann/" }]) {
      assert.deepEqual(ownerIn({ user, other: 1 }), user);
      assert.deepEqual(ownerIn(ownedBy(user)), Object.keys(user).length > 0 ? user : undefined);
    }
  });

  it("is unknown if the metadata has none, or one of another shape", () => {
    assert.equal(ownerIn(), undefined);
    for (const user of [
      undefined,
      null,
      "ann",
      1,
      { id: 1 },
      { sessions: null },
      { id: "ann", sessions: 1 },
    ])
      assert.equal(ownerIn({ user }), undefined, JSON.stringify(user));
  });

  it("has only what authentication said", () => {
    assert.deepEqual(userOf({}), {});
    assert.deepEqual(userOf({ user: "ann" }), { id: "ann" });
    assert.deepEqual(userOf({ sessions: "ann/" }), { sessions: "ann/" });
  });
});
