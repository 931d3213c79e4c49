/**
 * Core and compat patch nothing global, so their test files share one process. What starts
 * processes or sets the environment runs beside it, a process a file.
 */
const apart = [
  "packages/bowline/test",
  "packages/compat/test/(?:seeds|gateway)",
  "packages/core/test/(?:seeds|crash|simulation|session/node/(?:processes|damage))",
  "mutants/test",
];

export const startsProcesses = new RegExp(`^(?:${apart.join("|")})`);
