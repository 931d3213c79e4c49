/** The single writer of a file, on a disk that is slow, fills up or fails. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AnyEntry } from "../../../src/session/index.ts";
import { FileFolder } from "../../../src/session/node/file-folder.ts";
import { readEntries } from "../../../src/session/node/read-log.ts";
import { LogWriter, type SyncPolicy } from "../../../src/session/node/write-log.ts";
import { collect, MemoryFile, seqs, upTo } from "../support.ts";
import { code } from "../../../../../test/support/error-code.ts";

function rig(sync: SyncPolicy = "commit"): { file: MemoryFile; writer: LogWriter } {
  const file = new MemoryFile();
  return {
    file,
    writer: new LogWriter({
      file,
      path: "a file",
      length: 0,
      last: undefined,
      nextSeq: 0,
      sync,
      files: new FileFolder("no folder", false),
    }),
  };
}

const entry = (seq: number, type = "message"): AnyEntry => ({
  seq,
  id: `e${seq}`,
  parentId: null,
  timestamp: 1,
  type,
});

/** Appends one entry, with the next sequence number. */
function append(writer: LogWriter, type?: string): Promise<void> {
  return writer.append([entry(writer.nextSeq, type)]);
}

async function read(file: MemoryFile): Promise<number[]> {
  const entries = await collect(
    readEntries(
      { handle: file, path: "a file" },
      { onDamage: ({ message }) => assert.fail(message) },
    ),
  );
  return seqs(entries.flat());
}

describe("a writer", () => {
  it("batches pending appends into one write and one sync", async () => {
    const { file, writer } = rig();
    await Promise.all(upTo(100).map(() => append(writer)));
    assert.deepEqual(file.calls, ["write", "datasync", "write", "datasync"]); // the first, and then all that were queued during it
    assert.deepEqual(await read(file), upTo(100));
  });

  it("acknowledges an append only after the disk has it", async () => {
    const { file, writer } = rig();
    const calls: string[][] = [];
    await append(writer).then(() => calls.push([...file.calls]));
    assert.deepEqual(calls, [["write", "datasync"]]);
  });

  const policies: [SyncPolicy, string, boolean][] = [
    ["commit", "message", true],
    ["commit", "tool_intent", true],
    ["commit", "tool_result", true],
    ["commit", "run_end", true],
    ["commit", "of a newer version", true],
    ["commit", "label", false],
    ["commit", "run_start", false],
    ["always", "label", true],
    ["never", "message", false],
  ];
  for (const [sync, type, isSynced] of policies) {
    it(`with sync "${sync}" ${isSynced ? "waits" : "does not wait"} for the disk with "${type}"`, async () => {
      const { file, writer } = rig(sync);
      await append(writer, type);
      assert.deepEqual(file.calls, isSynced ? ["write", "datasync"] : ["write"]);
      await writer.close();
      const isLeft = sync === "commit" && !isSynced;
      assert.deepEqual(
        file.calls.slice(isSynced ? 2 : 1),
        isLeft ? ["datasync", "close"] : ["close"],
      );
    });
  }

  it("closes its file once, however often it is closed", async () => {
    const { file, writer } = rig();
    await append(writer, "label");
    await Promise.all([writer.close(), writer.close()]);
    await writer.close();
    assert.deepEqual(file.calls, ["write", "datasync", "close"]);
  });

  it("rolls back a partial write on a full disk, and continues when there is room", async () => {
    for (let room = 0; room < 700; room += 13) {
      const { file, writer } = rig();
      file.room = room;
      const first = await Promise.allSettled([append(writer), append(writer), append(writer)]);
      const second = await Promise.allSettled([append(writer), append(writer)]);
      const kept = [...first, ...second].filter(({ status }) => status === "fulfilled").length;
      for (const end of [...first, ...second]) {
        if (end.status === "rejected")
          assert.ok(code("storage_failed")(end.reason), String(end.reason));
      }
      assert.deepEqual(await read(file), upTo(kept), `with room for ${room}`);
      assert.deepEqual(
        [writer.nextSeq, writer.last?.seq],
        [kept, kept === 0 ? undefined : kept - 1],
      );
      file.room = Infinity;
      await append(writer);
      assert.deepEqual(await read(file), upTo(kept + 1));
    }
  });

  it("fails the appends that were queued after a failed write", async () => {
    const { file, writer } = rig();
    const ends: Promise<PromiseSettledResult<void>[]> = Promise.allSettled([
      append(writer),
      append(writer),
      append(writer),
    ]);
    file.failures.write = "EIO";
    assert.deepEqual(
      (await ends).map(({ status }) => status),
      ["rejected", "rejected", "rejected"],
    );
    assert.deepEqual(await read(file), []);
    await append(writer);
    assert.deepEqual(await read(file), [0]);
  });

  for (const failure of ["datasync", "truncate"] as const) {
    it(`must be reopened when the state of the disk is unknown (${failure} failed)`, async () => {
      const { file, writer } = rig();
      await append(writer);
      file.failures[failure] = "EIO";
      if (failure === "truncate") file.failures.write = "ENOSPC";
      await assert.rejects(append(writer), /Open the session again/);
      await assert.rejects(append(writer), code("storage_failed"));
      assert.equal(writer.last?.seq, 0);
      const { length } = file.calls;
      await writer.close();
      assert.deepEqual(file.calls.slice(length), ["close"]);
      assert.deepEqual(await read(file), [0]);
    });
  }
});
