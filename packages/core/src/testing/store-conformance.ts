/**
 * What every store of sessions has to do, as named cases for any test runner: give it a function
 * that makes an empty store, and run each case. A case fails by rejecting.
 */
import type { Store } from "../session/store.ts";
import { holding } from "./store/holding.ts";
import { listing } from "./store/listing.ts";
import { reading } from "./store/reading.ts";
import { writing } from "./store/writing.ts";

const cases = { ...writing, ...holding, ...reading, ...listing };

export interface StoreFixture {
  /** Holds nothing yet. */
  readonly store: Store;
  /**
   * Another store on the same sessions, as another process would have it; without it those cases
   * use the same store.
   */
  readonly reopen?: () => Store | Promise<Store>;
  /** Called after the case. */
  readonly dispose?: () => unknown;
}

export interface ConformanceCase {
  /** A sentence. */
  readonly name: string;
  readonly run: () => Promise<void>;
}

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
