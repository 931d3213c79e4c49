/** Images in a message: models get them unchanged, clients get their size. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore } from "@bowline/core/session";
import { createScriptedModel } from "@bowline/core/testing";
import { createMemoryPending } from "../../src/gateway/runs/pending.ts";
import type { Attachment, SendParams } from "../../src/gateway/protocol/protocol.ts";
import { gatewayWith, token, wait } from "./gateway.ts";

const bytes = (length: number, fill = 7): string => Buffer.alloc(length, fill).toString("base64");
const png = (length: number, fill?: number): Attachment => ({
  mimeType: "image/png",
  data: bytes(length, fill),
});
const message = (attachments: readonly unknown[], more: Partial<SendParams> = {}): SendParams =>
  ({ sessionKey: "s", message: "look", attachments, ...more }) as SendParams;

describe("attachments", () => {
  it("reach the model with the message's text, in order", async () => {
    await using server = await gatewayWith(["Seen."]);
    const client = await server.client();
    const images = [png(100), { ...png(10, 1), mimeType: "image/webp" as const }];
    const { runId } = await client.call("chat.send", message(images));
    assert.equal((await client.end(runId)).event, "chat.final");
    const content = server.model.calls[0]?.context.messages[0]?.content;
    assert.deepEqual(content, [
      { type: "text", text: "look" },
      { type: "image", ...images[0] },
      { type: "image", ...images[1] },
    ]);
    const told = await client.event("chat.user", runId);
    assert.deepEqual(
      [told.text, told.images],
      [
        "look",
        [
          { mimeType: "image/png", bytes: 100 },
          { mimeType: "image/webp", bytes: 10 },
        ],
      ],
    );
  });

  it("may come without a text, which then is no part of the message", async () => {
    await using server = await gatewayWith(["Seen."]);
    const client = await server.client();
    const { runId } = await client.call("chat.send", message([png(100)], { message: "" }));
    await client.end(runId);
    const content = server.model.calls[0]?.context.messages[0]?.content;
    assert.deepEqual(content, [{ type: "image", ...png(100) }]);
    assert.equal((await client.event("chat.user", runId)).text, "");
    for (const method of ["chat.send", "chat.steer", "chat.followUp"] as const)
      assert.equal(await client.refused(method, { sessionKey: "s", message: "" }), "bad_params");
  });

  it("appear in the history as type and size", async () => {
    await using server = await gatewayWith(["Seen.", "Seen."]);
    const client = await server.client();
    for (const length of [99, 100, 101])
      await client.call("chat.send", message([png(length)])).then(({ runId }) => client.end(runId));
    const history = await client.call("chat.history", { sessionKey: "s" });
    const shown = history.messages.flatMap(({ message: said }) =>
      said.role === "user" ? [(said as unknown as { content: unknown[] }).content[1]] : [],
    );
    assert.deepEqual(
      shown,
      [99, 100, 101].map((length) => ({ type: "image", mimeType: "image/png", bytes: length })),
    );
    assert.ok(!JSON.stringify(history).includes(bytes(90)));
  });

  it("are limited as the welcome frame says", async () => {
    await using server = await gatewayWith(["Seen.", "Seen."], {
      limits: { maxAttachmentBytes: 1000 },
    });
    const client = await server.client();
    const { maxAttachments, maxAttachmentBytes, maxFrameBytes } = client.welcome.limits;
    assert.deepEqual([maxAttachments, maxAttachmentBytes], [4, 1000]);
    const refused: unknown[][] = [
      Array.from({ length: 5 }, () => png(10)),
      [png(1001)],
      [png(600), png(401)],
      [],
      [{ mimeType: "image/svg+xml", data: bytes(10) }],
      [{ mimeType: "text/html", data: bytes(10) }],
      [{ mimeType: "image/png", data: "not base64!" }],
      [{ mimeType: "image/png", data: "abcde" }],
      [{ mimeType: "image/png", data: "https://else.where/x.png" }],
      [{ mimeType: "image/png", data: bytes(10), url: "file:///etc/passwd" }],
    ];
    for (const attachments of refused)
      assert.equal(
        await client.refused("chat.send", message(attachments)),
        "bad_params",
        JSON.stringify(attachments),
      );
    const { runId } = await client.call("chat.send", message([png(600), png(400)]));
    await client.end(runId);
    assert.equal(server.model.calls.length, 1);
    // Attachments of the maximum size fit into a frame together with any text.
    await using usual = await gatewayWith([]);
    const { limits } = (await usual.client()).welcome;
    const most =
      (limits.maxAttachmentBytes * 4) / 3 +
      limits.maxAttachments * 100 +
      4 * limits.maxMessageLength;
    assert.ok(most < maxFrameBytes, `${most} of ${maxFrameBytes}`);
  });

  it("are refused for a model without image input, before anything is stored", async () => {
    const script = createScriptedModel(["Blind."]);
    const pending = createMemoryPending();
    const model = { ...script.model, input: ["text" as const] };
    await using server = await gatewayWith([], {
      pending,
      backendFor: () => ({ model, streamFn: script.streamFn, isPractice: false }),
    });
    const client = await server.client();
    assert.equal(await client.refused("chat.send", message([png(10)])), "bad_params");
    const error = client.frames.at(-1)?.error;
    assert.match(error?.message ?? "", /scripted\/scripted takes no images/);
    assert.deepEqual(await pending.list(), []);
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "look" });
    assert.equal((await client.end(runId)).event, "chat.final");
  });

  it("can be sent with steering and follow-up messages", async () => {
    const sent = Promise.withResolvers<void>();
    await using server = await gatewayWith([
      () => sent.promise.then(() => "Zero."),
      "One.",
      "Two.",
    ]);
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    await client.call("chat.steer", message([png(10, 1)], { message: "left" }));
    await client.call("chat.followUp", message([png(10, 2)], { message: "right" }));
    sent.resolve();
    await client.end(runId);
    const said =
      server.model.calls.at(-1)?.context.messages.filter(({ role }) => role === "user") ?? [];
    const images = said.flatMap(({ content }) => (typeof content === "string" ? [] : [content[1]]));
    assert.deepEqual(images, [
      { type: "image", ...png(10, 1) },
      { type: "image", ...png(10, 2) },
    ]);
  });

  it("belong to the message of an idempotency key", async () => {
    await using server = await gatewayWith(["Seen."]);
    const client = await server.client();
    const send = (fill: number): SendParams => message([png(10, fill)], { idempotencyKey: "key" });
    const { runId } = await client.call("chat.send", send(1));
    assert.equal(runId, "key");
    assert.equal(await client.refused("chat.send", send(2)), "conflict");
    await client.end(runId);
    assert.equal((await client.call("chat.send", send(1))).status, "finished");
  });

  it("belong to the message of an idempotency key with their names", async () => {
    await using server = await gatewayWith(["Read."]);
    const client = await server.client();
    const send = (name?: string): SendParams =>
      message([{ mimeType: "text/plain", data: bytes(10), ...(name !== undefined && { name }) }], {
        idempotencyKey: "key",
      });
    const { runId } = await client.call("chat.send", send("a.txt"));
    assert.equal(await client.refused("chat.send", send("b.txt")), "conflict");
    assert.equal(await client.refused("chat.send", send()), "conflict");
    await client.end(runId);
    assert.equal((await client.call("chat.send", send("a.txt"))).status, "finished");
  });

  it("survive a restart, once", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const first = await gatewayWith(["word ".repeat(2000)], {
      store,
      pending,
      pace: { delayMs: 5 },
    });
    const before = await first.client();
    const { runId } = await before.call("chat.send", { sessionKey: "s", message: "go" });
    await before.event("chat.delta", runId);
    await before.call("chat.steer", message([png(10)]));
    const queued = await before.call("chat.send", message([png(20)], { message: "next" }));
    await first.gateway.close();
    await using second = await gatewayWith(["One.", "Two."], { store, pending });
    const client = await second.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId: queued.runId });
    await client.end(queued.runId);
    while ((await pending.list()).length > 0) await wait(5);
    const said =
      second.model.calls.at(-1)?.context.messages.filter(({ role }) => role === "user") ?? [];
    assert.deepEqual(
      said.map(({ content }) =>
        typeof content === "string" ? content : JSON.stringify(content[1]).length,
      ),
      ["go", ...[10, 20].map((length) => JSON.stringify({ type: "image", ...png(length) }).length)],
    );
  });

  it("can be sent over HTTP", async () => {
    await using server = await gatewayWith(["Seen."]);
    const response = await fetch(`${server.gateway.url}/api/chat`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(message([png(10)])),
    });
    assert.equal(response.status, 202);
    const { events } = (await response.json()) as { events: string };
    await (
      await fetch(`${server.gateway.url}${events}`, {
        headers: { authorization: `Bearer ${token}` },
      })
    ).text();
    const content = server.model.calls[0]?.context.messages[0]?.content;
    assert.equal(Array.isArray(content) && content.length, 2);
    const refused = await fetch(`${server.gateway.url}/api/chat`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(message(Array.from({ length: 9 }, () => png(10)))),
    });
    assert.equal(refused.status, 400);
  });
});
