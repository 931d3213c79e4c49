/** The user that a session's metadata names. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ownedBy, ownerIn, userOf } from "../../src/gateway/access/user.ts";

describe("the owner of a session", () => {
  it("is read as it was written", () => {
    for (const user of [{ id: "ada" }, { sessions: "ada/" }, { id: "ada", sessions: "ada/" }])
      assert.deepEqual(ownerIn(ownedBy(user)), user);
    assert.deepEqual(ownedBy(userOf({})), {});
    assert.equal(ownerIn(), undefined);
  });

  it("is unknown if the metadata is not of this form", () => {
    for (const user of ["ada", null, 1, { id: 1 }, { id: "ada", sessions: ["a"] }])
      assert.equal(ownerIn({ user }), undefined, JSON.stringify(user));
  });
});
