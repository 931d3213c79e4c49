import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { RunEvent } from "../../src/gateway/client/client.ts";
import type { HistoryEntry } from "../../src/gateway/protocol/protocol.ts";
import { allot } from "../../src/page/state/allot.ts";
import { runsOf } from "../../src/page/state/conversation.ts";
import type { PageAction, PageState } from "../../src/page/state/page-state.ts";
import { initialState, reduce } from "../../src/page/state/reduce.ts";
import { canRetry, type RunView } from "../../src/page/state/run-view.ts";
import { imageTypeOf } from "../../src/page/text/image-type.ts";
import { gif, png } from "../browser/pictures.ts";

const image = { name: "a.png", mimeType: "image/png", bytes: 3, data: "AAAA" } as const;
const told = { mimeType: "image/png", bytes: 3 };
const after = (...actions: readonly PageAction[]): PageState =>
  actions.reduce(reduce, initialState("s"));
const heard = (event: RunEvent["event"], data: object): PageAction => ({
  type: "run_event",
  frame: { event, data: { runId: "m", sessionKey: "s", seq: 1, ...data } } as unknown as RunEvent,
});
const sending: PageAction = {
  type: "sending",
  message: {
    id: "m",
    sessionKey: "s",
    mode: "send",
    text: "look",
    state: "sending",
    images: [image],
  },
};
const content = [
  { type: "text", text: "look" },
  { type: "image", mimeType: "image/png", bytes: 3 },
] as const;
const user = { role: "user", content, timestamp: 1 } as const;
const kept = {
  type: "history",
  sessionKey: "s",
  page: {
    messages: [{ id: "1", runId: "m", message: user } satisfies HistoryEntry],
    hasMore: false,
    waiting: [],
  },
} as const satisfies PageAction;
const first = ({ conversation }: PageState): RunView => runsOf(conversation)[0] as RunView;

describe("the size limit shared by the images of a message", () => {
  const sizes = fc.array(
    fc.record({ bytes: fc.integer({ min: 1, max: 1000 }), isFixed: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 6,
    },
  );

  it("is never exceeded, changes no set of images that fits, and cuts large ones to equal sizes", () => {
    fc.assert(
      fc.property(sizes, fc.nat({ max: 3000 }), (images, max) => {
        const rooms = allot(images, max, 1);
        const sum = images.reduce((total, { bytes }) => total + bytes, 0);
        if (sum <= max)
          assert.deepEqual(
            rooms,
            images.map(({ bytes }) => bytes),
          );
        if (rooms === undefined) return;
        assert.ok(rooms.reduce((total, bytes) => total + bytes, 0) <= max);
        const cut = rooms.filter((room, index) => room < (images[index]?.bytes ?? 0));
        assert.ok(cut.length === 0 || Math.max(...cut) - Math.min(...cut) <= 1);
        for (const [index, { bytes, isFixed }] of images.entries()) {
          assert.ok(!isFixed || rooms[index] === bytes);
          assert.ok((rooms[index] ?? 0) === bytes || bytes >= Math.min(...cut));
        }
      }),
    );
  });

  it("fails when a fixed image is too large, or when too little would be left", () => {
    assert.equal(allot([{ bytes: 11, isFixed: true }], 10, 1), undefined);
    assert.equal(allot([{ bytes: 11, isFixed: false }], 10, 11), undefined);
    assert.deepEqual(allot([{ bytes: 5, isFixed: false }], 10, 8), [5]);
  });
});

describe("the type of an image", () => {
  it("is read from its first bytes, and is undefined for every other file", () => {
    const webp = Buffer.from("RIFF\x10\x00\x00\x00WEBPVP8 ", "latin1");
    const starts = [
      png("a", 1, 1).buffer,
      gif("a").buffer,
      Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
      webp,
    ];
    assert.deepEqual(starts.map(imageTypeOf), [
      "image/png",
      "image/gif",
      "image/jpeg",
      "image/webp",
    ]);
    for (const other of [
      "",
      "<svg>",
      "%PDF-1.7",
      "GIF8",
      "RIFF1234WAVE",
      "BM1234567890",
      " \x89PNG\r\n\x1a\n",
    ])
      assert.equal(imageTypeOf(Buffer.from(other, "latin1")), undefined, other);
  });
});

describe("images of a sent message", () => {
  it("stay with it when its run begins, and after a snapshot that has only types and sizes", () => {
    const begun = after(sending, heard("chat.user", { text: "look" }));
    const block = { type: "user", text: "look", images: [image] };
    assert.deepEqual(first(begun).blocks, [block]);
    const blocks = [
      { type: "user", text: "look", images: [told] },
      { type: "text", turn: 0, text: "So" },
    ];
    const again = reduce(begun, heard("chat.snapshot", { state: "running", blocks }));
    assert.deepEqual(first(again).blocks, [block, blocks[1]]);
    assert.equal(canRetry(first(again)), true);
  });

  it("are shown by type and size in another tab, where they cannot be sent again", () => {
    const block = { type: "user", text: "look", images: [told] };
    assert.deepEqual(first(after(kept)).blocks, [block]);
    const followed = after(kept, heard("chat.user", { text: "look", images: [told] }));
    assert.deepEqual(first(followed).blocks, [block]);
    assert.equal(canRetry(first(followed)), false);
  });
});
