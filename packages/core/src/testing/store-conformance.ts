/**
 * Test cases that every session store must pass, for any test runner. Pass a function that creates
 * an empty store, and run each case. A case fails by rejecting.
 */
import type { Store } from "../session/store.ts";
import { files } from "./store/files.ts";
import { holding } from "./store/holding.ts";
import { listing } from "./store/listing.ts";
import { reading } from "./store/reading.ts";
import { writing } from "./store/writing.ts";

const cases = { ...writing, ...holding, ...reading, ...listing, ...files };

export interface StoreFixture {
  /** An empty store. */
  readonly store: Store;
  /** Returns another store on the same sessions, as in another process. Default: the same store. */
  readonly reopen?: () => Store | Promise<Store>;
  /** Called after the case. */
  readonly dispose?: () => unknown;
}

export interface ConformanceCase {
  /** The title of the case. */
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** Returns the test cases. Each case calls `createStore` once. */
export function storeConformance(
  createStore: () => StoreFixture | Promise<StoreFixture>,
): ConformanceCase[] {
  return Object.entries(cases).map(([name, work]) => ({
    name,
    async run() {
      const { store, reopen = () => store, dispose } = await createStore();
      try {
        await work(store, async () => reopen());
      } finally {
        await dispose?.();
      }
    },
  }));
}
