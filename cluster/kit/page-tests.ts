/** The tests of `packages/bowline/test/browser`, with clusters in the place of their gateways. */
import type * as Browser from "../../packages/bowline/test/browser/browser.ts";
import { systemIsMissing } from "./system.ts";

process.env.BOWLINE_TEST_GATEWAYS = new URL("./page-clusters.ts", import.meta.url).href;
const folder = new URL("../../packages/bowline/test/browser/", import.meta.url).href;
// Imported now, because it reads the environment.
export const browser = (await import(`${folder}browser.ts`)) as typeof Browser;

/** The reason to skip tests of the page of a cluster, or false. */
export const missing = systemIsMissing() || browser.skip;

/** Defines the tests of these files. */
export async function definePageTests(names: readonly string[]): Promise<void> {
  if (missing === false) for (const name of names) await import(`${folder}${name}.test.ts`);
}
