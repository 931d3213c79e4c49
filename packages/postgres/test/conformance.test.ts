/** The store satisfies the contract of a store. */
import { describe, it } from "node:test";
import { storeConformance } from "@bowline/core/testing";
import type { PostgresStore } from "../src/index.ts";
import { skip, startRig } from "./support.ts";

const rig = await startRig();

describe("the PostgreSQL store", { skip }, () => {
  let schemas = 0;
  const cases = storeConformance(() => {
    const schema = `c${++schemas}`;
    const stores: PostgresStore[] = [];
    const open = (): PostgresStore => {
      const store = rig.open({ schema });
      stores.push(store);
      return store;
    };
    return {
      store: open(),
      reopen: open,
      dispose: () => Promise.all(stores.map((store) => store.close())),
    };
  });
  for (const { name, run } of cases) it(name, run);
});
