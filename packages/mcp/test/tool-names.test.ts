/** The names of tools: every wire takes them, and no server takes another's. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { nameTools } from "../src/tools/tool-names.ts";

describe("the names of tools", () => {
  it("are the server's and the tool's", () => {
    assert.deepEqual(nameTools([{ server: "files", tool: "read-file" }]), ["files__read-file"]);
  });

  it("have only characters that every wire takes, and a hash where that was not enough", () => {
    const [dotted, long] = nameTools([
      { server: "my.server", tool: "a/b c" },
      { server: "s", tool: "t".repeat(100) },
    ]);
    assert.equal(dotted, "my_server__a_b_c");
    assert.match(long ?? "", /^s__t{52}_[0-9a-f]{8}$/);
  });

  it("are both changed where two tools would have the same", () => {
    const names = nameTools([
      { server: "a__b", tool: "c" },
      { server: "a", tool: "b__c" },
      { server: "a", tool: "d" },
    ]);
    assert.match(names[0] ?? "", /^a__b__c_[0-9a-f]{8}$/);
    assert.match(names[1] ?? "", /^a__b__c_[0-9a-f]{8}$/);
    assert.notEqual(names[0], names[1]);
    assert.equal(names[2], "a__d");
  });

  it("leave out a tool that was named like another's changed name", () => {
    const clash = [
      { server: "a__b", tool: "c" },
      { server: "a", tool: "b__c" },
    ];
    const [taken = ""] = nameTools(clash);
    const [server = "", ...rest] = taken.split("__");
    const names = nameTools([...clash, { server, tool: rest.join("__") }]);
    assert.deepEqual([names[0], names[2]], [undefined, undefined]);
  });

  it("are valid, unique, and do not depend on the order", () => {
    const word = fc.string({
      minLength: 1,
      maxLength: 40,
      unit: fc.constantFrom("a", "_", ".", "ü"),
    });
    const tools = fc.uniqueArray(fc.record({ server: word, tool: word }), {
      selector: (tool) => JSON.stringify(tool),
      maxLength: 20,
    });
    fc.assert(
      fc.property(tools, (given) => {
        const names = nameTools(given);
        const kept = names.filter((name) => name !== undefined);
        assert.equal(new Set(kept).size, kept.length);
        for (const name of kept) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
        assert.deepEqual(nameTools(given.toReversed()).toReversed(), names);
      }),
    );
  });
});
