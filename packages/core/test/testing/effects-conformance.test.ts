import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import {
  createJournalHarness,
  effectsConformance,
  type EffectsHarness,
} from "../../src/testing/index.ts";
import { createSessionHarness } from "./session-harness.ts";

async function inFiles(): Promise<EffectsHarness> {
  const folder = await mkdtemp(join(tmpdir(), "bowline-effects-"));
  let stores = 0;
  return createSessionHarness(
    () => createJsonlStore(join(folder, String(stores++)), { sync: "never" }),
    () => rm(folder, { recursive: true }),
  );
}

const harnesses: Readonly<Record<string, () => EffectsHarness | Promise<EffectsHarness>>> = {
  "a journal in memory": () => createJournalHarness(),
  "a journal in memory that starts nested runs itself": () =>
    createJournalHarness({ hasChildren: true }),
  "a session in memory": () => createSessionHarness(createMemoryStore),
  "a session in files": inFiles,
};

for (const [title, createHarness] of Object.entries(harnesses))
  describe(`the effects of ${title}`, () => {
    const replays = title.startsWith("a journal");
    for (const { name, run } of effectsConformance(createHarness, { replays })) it(name, run);
  });
