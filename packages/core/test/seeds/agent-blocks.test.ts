/** Every TypeScript block of seed 002, run as a user's program. */
import assert from "node:assert/strict";
import { agentPrograms } from "./agent-programs.ts";
import { testBlocks } from "../../../../test/support/seeds/block-suite.ts";

assert.equal(agentPrograms.length, 17);

testBlocks({
  seed: "002",
  specifiers: [[/@earendil-works\/pi-(?:agent-core|ai)/g, "@bowline/core"]],
  programs: agentPrograms.map((program, index) => ({ ...program, blocks: [index] })),
  leftOut: {},
});
