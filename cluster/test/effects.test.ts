/** Runs on a real Restate server pass core's cases of effects: each moment of a run is stopped. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { effectsConformance } from "@bowline/core/testing";
import { createPostgresStore } from "@bowline/postgres";
import { exceptions } from "../../packages/restate/test/effects-exceptions.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { EffectsWorkers } from "../kit/effects-harness.ts";
import { clusterIsMissing } from "../kit/harness.ts";
import { startRestate } from "../kit/restate.ts";

/** Cases that run at the same time. They wait for timers and servers most of the time. */
const AT_ONCE = 6;

describe(
  "the effects of a run on Restate",
  { skip: clusterIsMissing(), concurrency: AT_ONCE },
  () => {
    const started = new AsyncDisposableStack();
    let workers: EffectsWorkers;
    before(async () => {
      const folder = mkdtempSync(join(tmpdir(), "bowline-effects-"));
      started.defer(() => rmSync(folder, { recursive: true, force: true }));
      const restate = started.use(await startRestate({ folder }));
      const postgres = started.use(await startPostgres());
      const connectionString = await postgres.createDatabase("bowline");
      const store = createPostgresStore({ connectionString });
      started.defer(() => store.close());
      workers = started.use(await EffectsWorkers.start({ restate, store }, AT_ONCE));
    });
    after(() => started.disposeAsync());

    const create = () => workers.createHarness();
    for (const { name, run } of effectsConformance(create, { replays: true, exceptions }))
      it(name, run);
  },
);
