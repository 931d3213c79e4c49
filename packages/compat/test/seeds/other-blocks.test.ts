/**
 * The TypeScript blocks of the other seeds. User code is run; the rest is left out for the stated
 * reason.
 */
import { testBlocks } from "../../../../test/support/seeds/block-suite.ts";
import { karlPrograms } from "./karl-programs.ts";

testBlocks({
  seed: "000",
  packages: ["compat"],
  specifiers: [[/\.\/agent-loop\.js/g, "@bowline/compat/karl"]],
  programs: karlPrograms,
  leftOut: { 0: "the import that is replaced" },
});

testBlocks({
  seed: "001",
  specifiers: [],
  programs: [],
  leftOut: {
    0: "the loop of another library, with a gap where its options stand",
    1: "a function over that library's messages; the face has its own",
  },
});

const declares = "declares what the gateway must have, without bodies";
testBlocks({
  seed: "003",
  specifiers: [],
  programs: [],
  leftOut: Object.fromEntries(Array.from({ length: 8 }, (_, index) => [index, declares])),
});

testBlocks({ seed: "004", specifiers: [], programs: [], leftOut: {} });
