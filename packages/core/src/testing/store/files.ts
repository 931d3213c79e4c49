/** Conformance cases for large files in messages and results. */
import type { AnyEntry } from "../../session/entry.ts";
import {
  collect,
  entry,
  fails,
  headerOf,
  nextOf,
  readAll,
  same,
  using,
  type StoreCase,
} from "./checks.ts";

/** 40,000 characters of base64. */
const large = "SGVsbG8h".repeat(5000);

/** Entries with files wherever they can be, and with data that only looks like a file's. */
function filed(): AnyEntry[] {
  const part = { type: "file", data: large, mimeType: "application/pdf", name: "a.pdf" };
  const content = [
    { type: "text", text: large },
    part,
    { ...part, data: `${large}AA==`, name: "b.pdf" },
    { ...part, data: `${large}AB==` },
    { ...part, data: `${large}A` },
    { ...part, data: `data:application/pdf;base64,${large}` },
    { ...part, data: "aGVsbG8=" },
    { type: "chart", data: { bytes: 1 }, more: null },
  ];
  const result = { result: { content, details: { data: large } }, isError: false };
  return [
    entry(0, { type: "message", message: { role: "user", content, timestamp: 1 } }),
    entry(1, { type: "queued", queue: "steering", message: { role: "user", content } }),
    entry(2, { type: "tool_result", result }),
    entry(3, { type: "message", message: { role: "custom", content: [part], own: [part] } }),
    entry(4, { type: "message", message: { role: "user", content: large } }),
  ];
}

export const files: Readonly<Record<string, StoreCase>> = {
  async "reads large files exactly as they were appended"(store, reopen) {
    const [first, ...rest] = filed();
    await using(await store.create(headerOf("s"), [first as AnyEntry]), (writer) =>
      writer.append(rest),
    );
    same(await readAll(await reopen(), "s"), filed());
    same(await readAll(store, "s", { reverse: true }), filed().toReversed());
    same(await collect(store, 0, rest.length + 1), filed());
  },

  async "keeps the files of sessions apart when one is deleted"(store, reopen) {
    for (const id of ["s", "t"]) await using(await store.create(headerOf(id), filed()));
    await store.delete("s");
    await fails("not_found", nextOf(store.read("s")));
    same(await readAll(await reopen(), "t"), filed());
  },
};
