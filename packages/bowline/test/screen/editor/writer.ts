/**
 * A process that writes entries or drafts: `writer.ts history|draft <folder> <name> <count>`.
 * Prints the number of each one that is stored.
 */
import { randomUUID } from "node:crypto";
import { writeSync } from "node:fs";
import { systemClock } from "@bowline/core";
import { DraftFile } from "../../../src/screen/editor/draft-file.ts";
import { entryLine, historyEntry } from "../../../src/screen/editor/history-entry.ts";
import { HistoryFile } from "../../../src/screen/editor/history-file.ts";
import { PROJECT } from "./driving.ts";

const [kind, folder = "", name = "", count = "0"] = process.argv.slice(2);
const filler = "lorem ipsum ".repeat(400);
const textOf = (index: number): string => `${name} ${index} ${filler}${index}`;
const store = kind === "history" ? historyStore() : draftStore();
for (let index = 0; index < Number(count); index++) {
  await store(index);
  writeSync(1, `${index}\n`);
}

function historyStore(): (index: number) => Promise<void> {
  const file = new HistoryFile({ folder, now: Date.now, newId: randomUUID });
  return (index) =>
    file.append(
      entryLine(historyEntry(PROJECT, Date.now(), [{ type: "text", text: textOf(index) }])),
    );
}

function draftStore(): (index: number) => Promise<void> {
  const file = new DraftFile({
    folder,
    project: PROJECT,
    pid: process.pid,
    isAlive: () => false,
    clock: systemClock,
    newId: randomUUID,
  });
  return async (index) => {
    file.changed(() => [{ type: "text", text: textOf(index) }]);
    await file.close();
  };
}
