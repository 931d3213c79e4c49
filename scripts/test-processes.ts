/**
 * Core and compat do not change globals, so their test files share one process. Tests that start
 * processes or set environment variables get a process per file.
 */
const apart = [
  "packages/bowline/test",
  "packages/compat/test/(?:seeds|gateway)",
  "packages/mcp/test",
  "packages/postgres/test",
  "packages/cluster/test",
  "packages/restate/test",
  "packages/core/test/(?:seeds|crash|simulation|session/node/(?:processes|damage))",
  "mutants/test",
];

export const startsProcesses = new RegExp(`^(?:${apart.join("|")})`);
