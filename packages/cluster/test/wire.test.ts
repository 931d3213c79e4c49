/** The messages of the bus: what is not exactly one of ours is ignored. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  eventHead,
  fromReply,
  toAsk,
  toEvent,
  toPosition,
  toReply,
  type LiveEvent,
} from "../src/wire/messages.ts";
import { Parcels, toPayloads, type Parcel } from "../src/wire/parcel.ts";
import { Subjects } from "../src/wire/subjects.ts";

const place = { runId: "r\n*", attempt: 2, seq: 7 };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const frame = (seq: number, text: string): LiveEvent => ({
  runId: place.runId,
  attempt: 2,
  seq,
  event: "chat.delta",
  frame: { json: JSON.stringify({ event: "chat.delta", data: { seq, text } }) },
});

describe("a message in parts", () => {
  it("is whole again in any order, with repeated parts and others between", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: "binary", maxLength: 3000 }), fc.nat(9)), {
          minLength: 1,
          maxLength: 6,
        }),
        fc.array(fc.nat(), { maxLength: 100 }),
        (bodies, order) => {
          const maxPayload = 8 * 1024 + 500;
          const sent = bodies.flatMap(([body], at) =>
            (toPayloads(["x", at], body, maxPayload) ?? []).map((payload) => ({ at, payload })),
          );
          const mixed = [...sent];
          for (const [index, pick] of order.entries()) {
            const [one] = mixed.splice(pick % mixed.length, 1);
            if (one !== undefined) mixed.splice(index % (mixed.length + 1), 0, one);
          }
          const parcels = new Parcels(1e9);
          const whole = new Map<number, string>();
          for (const { payload } of [...mixed.slice(0, 3), ...mixed]) {
            const parcel = parcels.take(payload);
            if (parcel !== undefined) whole.set(Number(parcel.head[1]), parcel.body);
          }
          for (const [at, [body]] of bodies.entries())
            assert.equal(whole.get(at), Buffer.from(body).toString());
        },
      ),
    );
  });

  it("is refused above 64 parts, and dropped above the limit of bytes", () => {
    assert.equal(toPayloads(["x"], "y".repeat(70_000), 9 * 1024), undefined);
    const payloads = toPayloads(["x"], "y".repeat(30_000), 9 * 1024) ?? [];
    assert.ok(payloads.length > 20);
    const parcels = new Parcels(10_000);
    assert.ok(payloads.every((payload) => parcels.take(payload) === undefined));
  });

  it("is ignored if its head is not one of ours", () => {
    const parcels = new Parcels(1e6);
    for (const text of [
      "",
      "no line",
      "{}\nx",
      "[\nx",
      '[{"part":0}]\nx',
      '["e1",null]\nx',
      '["e1",{"part":5,"parts":2}]\nx',
      '["e1",{"part":-1,"parts":2}]\nx',
      '["e1",{"part":0,"parts":1e9}]\nx',
      `${"[".repeat(9000)}\nx`,
    ])
      assert.equal(parcels.take(bytes(text)), undefined, text.slice(0, 40));
  });
});

describe("an event", () => {
  it("is the same after the bus, and its delta is parsed only when it is joined", () => {
    const body = '{"event":"chat.delta","data":{"seq":7,"text":"é\\n"}}';
    const [payload] = toPayloads(eventHead(place, "chat.delta"), body, 1e6) ?? [];
    const parcel = new Parcels(1e6).take(payload ?? bytes(""));
    const event = parcel && toEvent(parcel);
    assert.deepEqual(
      [event?.runId, event?.attempt, event?.seq, event?.event, event?.frame.json],
      [place.runId, 2, 7, "chat.delta", body],
    );
    const joined = { ...event?.frame } as { readonly delta?: { readonly text: string } };
    assert.equal(joined.delta?.text, "é\n");
  });

  it("is refused with another kind, name, number or further items", () => {
    const head = eventHead(place, "chat.delta");
    const changed = (at: number, value: string | number): Parcel => ({
      head: head.map((item, index) => (index === at ? value : item)),
      body: "{}",
    });
    const bad = [
      changed(0, "e2"),
      changed(1, 5),
      changed(2, -1),
      changed(3, 1.5),
      changed(3, -2),
      changed(4, "toString"),
      { head: [...head, 1], body: "{}" },
    ];
    for (const parcel of bad) assert.equal(toEvent(parcel), undefined);
    assert.equal(toPosition({ head, body: "" }), undefined);
  });
});

describe("a question and its answer", () => {
  it("are the same after the bus", () => {
    const ask = { sessionKey: "s", runId: "r", seq: -1 };
    assert.deepEqual(toAsk(bytes(JSON.stringify(ask))), ask);
    const frames = [frame(1, "a\nb"), frame(2, "c")];
    const run = { runId: place.runId, attempt: 2, state: "running" as const, seq: 2, frames };
    const back = fromReply(toReply("id", [run, { ...run, runId: "other", frames: [] }]));
    assert.deepEqual(
      back?.map(({ runId, frames: own }) => [runId, own.map((one) => [one.seq, one.frame.json])]),
      [
        [place.runId, frames.map((one) => [one.seq, one.frame.json])],
        ["other", []],
      ],
    );
    assert.deepEqual(fromReply(toReply("id", [])), []);
  });

  it("are refused if they are cut or changed", () => {
    for (const text of ["", "[]", "{}", '{"sessionKey":1}', '{"sessionKey":"s","seq":"x"}'])
      assert.equal(toAsk(bytes(text)), undefined, text);
    assert.equal(
      toAsk(bytes('{"sessionKey":"s","runId":"r","queued":{"kind":"send"}}')),
      undefined,
    );
    const run = {
      runId: "r",
      attempt: 1,
      state: "running" as const,
      seq: 2,
      frames: [frame(1, "a")],
    };
    const { head, body } = toReply("id", [run]);
    const lines = body.split("\n");
    for (let length = 1; length < lines.length; length++)
      assert.equal(fromReply({ head, body: lines.slice(0, length).join("\n") }), undefined);
    assert.equal(fromReply({ head: ["r2", "id"], body }), undefined);
    assert.equal(fromReply({ head, body: body.replace("running", "asleep") }), undefined);
  });
});

describe("a subject", () => {
  it("has no character of the session's key", () => {
    const subjects = new Subjects("a.b");
    for (const key of ["x", "*", ">", "a b", "日本\n.", "x".repeat(512)])
      assert.match(subjects.run(key), /^a\.b\.run\.[\w-]{43}$/);
    assert.notEqual(subjects.run("a"), subjects.run("b"));
  });

  it("has a prefix that is a subject", () => {
    for (const prefix of ["", ".", "a.", "a b", "*", "a.>"])
      assert.throws(() => new Subjects(prefix), /prefix/, prefix);
  });
});
