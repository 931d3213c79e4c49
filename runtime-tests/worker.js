// Runs the scenario as a Worker under `workerd test`. workerd.mjs bundles it, since a Worker has no
// file system.
export default {
  async test(_controller, { origin }) {
    globalThis.modelServer = origin;
    await import("./scenario.js");
  },
};
