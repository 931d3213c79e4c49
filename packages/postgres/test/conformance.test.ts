/** The store satisfies the contract of a store. */
import { after, before, describe, it } from "node:test";
import { storeConformance } from "@bowline/core/testing";
import {
  postgresIsMissing,
  startPostgres,
  type PostgresServer,
} from "../../../test/support/postgres.ts";
import { createPostgresStore, type PostgresStore } from "../src/index.ts";

const skip = postgresIsMissing();

describe("the PostgreSQL store", { skip }, () => {
  let server: PostgresServer;
  let url: string;
  let schemas = 0;
  before(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
  });
  after(() => server.stop());

  const cases = storeConformance(() => {
    const schema = `c${++schemas}`;
    const stores: PostgresStore[] = [];
    const open = (): PostgresStore => {
      const store = createPostgresStore({ connectionString: url, schema, retryMs: 1000 });
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
