/** Imported before tests of `packages/bowline/test/browser`: their gateways are then clusters. */
process.env.BOWLINE_TEST_GATEWAYS = new URL("./page-clusters.ts", import.meta.url).href;
