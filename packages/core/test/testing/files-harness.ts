/** Plays the runs of the kit of effects in sessions of files. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createJsonlStore } from "../../src/session/node/index.ts";
import type { EffectsHarness } from "../../src/testing/index.ts";
import { createSessionHarness } from "./session-harness.ts";

export async function createFilesHarness(): Promise<EffectsHarness> {
  const folder = await mkdtemp(join(tmpdir(), "bowline-effects-"));
  let stores = 0;
  return createSessionHarness(
    () => createJsonlStore(join(folder, String(stores++)), { sync: "never" }),
    () => rm(folder, { recursive: true }),
  );
}
