// The scenario as a worker: what `workerd test` calls. Bundled by workerd.mjs, since a worker has
// no disk.
export default {
  async test(_controller, { origin }) {
    globalThis.modelServer = origin;
    await import("./scenario.js");
  },
};
