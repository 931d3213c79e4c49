/**
 * Test files that get a process of their own, because they start processes, wait for long or change
 * globals. The others share one process for each suite, which loads what they test once.
 */
const apart = [
  "packages/bowline/test/(?!(?:chat|gateway|page|policy|practice|screen|settings)/)",
  "packages/bowline/test/gateway/(?:abort|aimock|docs|full-disk|make-folder|replace-file)",
  "packages/bowline/test/gateway/(?:restart|seed-details|transcript)",
  "packages/bowline/test/(?:policy/random-commands|settings/settings)",
  "packages/bowline/test/screen/(?:screen-process|editor/(?:draft-file|history|images))",
  "packages/compat/test/(?:seeds|gateway)",
  "packages/mcp/test",
  "packages/postgres/test",
  "packages/cluster/test",
  "packages/restate/test",
  "packages/core/test/(?:seeds|crash|simulation|session/node/(?:processes|damage|sync))",
  "mutants/test",
  "cluster/drill/test",
];

export const startsProcesses = new RegExp(`^(?:${apart.join("|")})`);
