/** Files in a message: models get them, clients get their names and sizes, and can load them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { getModel } from "@bowline/core";
import { createMemoryStore, createSession } from "@bowline/core/session";
import { createMemoryPending } from "../../src/gateway/runs/pending.ts";
import type { Attachment, SendParams } from "../../src/gateway/protocol/protocol.ts";
import { gatewayWith, token, type TestGateway } from "./gateway.ts";

const pdf = Buffer.alloc(30_000, "%PDF ");
const attachment: Attachment = {
  mimeType: "application/pdf",
  data: pdf.toString("base64"),
  name: 'a "report" é.pdf',
};
const message = (attachments: readonly Attachment[], sessionKey = "s"): SendParams => ({
  sessionKey,
  message: "read",
  attachments,
});

function load(
  server: TestGateway,
  query: Record<string, string>,
  bearer: string = token,
): Promise<Response> {
  const url = `${server.gateway.url}/api/files?${new URLSearchParams(query)}`;
  return fetch(url, { headers: { authorization: `Bearer ${bearer}` } });
}

async function idOf(server: TestGateway, sessionKey: string): Promise<string> {
  const client = await server.client();
  const { messages } = await client.call("chat.history", { sessionKey });
  return messages[0]?.id ?? "";
}

describe("a file in a message", () => {
  it("reaches the model, and clients get its name, type and size", async () => {
    await using server = await gatewayWith(["Read."]);
    const client = await server.client();
    const { runId } = await client.call("chat.send", message([attachment]));
    assert.equal((await client.end(runId)).event, "chat.final");
    const content = server.model.calls[0]?.context.messages[0]?.content;
    assert.deepEqual(content, [
      { type: "text", text: "read" },
      { type: "file", ...attachment },
    ]);
    const info = { mimeType: "application/pdf", name: attachment.name, bytes: 30_000 };
    assert.deepEqual((await client.event("chat.user", runId)).files, [info]);
    const { messages } = await client.call("chat.history", { sessionKey: "s" });
    const [first] = messages as unknown as { message: { content: unknown[] } }[];
    assert.deepEqual(first?.message.content[1], { type: "file", ...info });
  });

  it("is loaded over HTTP as a download", async () => {
    await using server = await gatewayWith(["Read."]);
    const client = await server.client();
    const text: Attachment = { mimeType: "text/plain", data: "PHNjcmlwdD4=", name: "a.html" };
    await client.end((await client.call("chat.send", message([attachment, text]))).runId);
    const id = await idOf(server, "s");
    const response = await load(server, { sessionKey: "s", id, part: "1" });
    assert.equal(response.status, 200);
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), pdf);
    const headers = Object.fromEntries(response.headers);
    assert.equal(headers["content-type"], "application/pdf");
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.match(headers["content-disposition"] ?? "", /^attachment; filename="a _report_ _.pdf";/);
    const other = await load(server, { sessionKey: "s", id, part: "2" });
    assert.equal(other.headers.get("content-type"), "application/octet-stream");
    for (const query of [
      { sessionKey: "s", id, part: "0" },
      { sessionKey: "s", id, part: "3" },
      { sessionKey: "s", id, part: "-1" },
      { sessionKey: "s", id, part: "constructor" },
      { sessionKey: "s", id: "none", part: "1" },
      { sessionKey: "t", id, part: "1" },
    ])
      assert.equal((await load(server, query)).status, 404, JSON.stringify(query));
    assert.equal((await load(server, { id, part: "1" })).status, 400);
  });

  it("is loaded under a short name that shows its own ending", async () => {
    const store = createMemoryStore();
    const names = [
      "x".repeat(200_000),
      "a\u202efdp\u2028.\u0000\u0085exe",
      "😀".repeat(300),
      "\ud800b",
    ];
    const session = await createSession(store, { id: "s" });
    const content = names.map((name) => ({
      type: "file" as const,
      mimeType: "application/pdf",
      data: "JVBERi0=",
      name,
    }));
    await session.append(
      { type: "message", message: { role: "user", content, timestamp: 1 } },
      "m",
    );
    await session.close();
    await using server = await gatewayWith([], { store });
    const shown: (string | undefined)[] = [];
    for (const part of names.keys()) {
      const response = await load(server, { sessionKey: "s", id: "m", part: String(part) });
      assert.equal(response.status, 200);
      const header = response.headers.get("content-disposition") ?? "";
      shown.push(decodeURIComponent(/filename\*=UTF-8''(.*)$/.exec(header)?.[1] ?? ""));
    }
    assert.deepEqual(shown, ["x".repeat(255), "afdp.exe", "😀".repeat(255), "\ufffdb"]);
  });

  it("is loaded only by those who may read its session", async () => {
    await using server = await gatewayWith(["Read."], {
      authorize: (given) =>
        given === "ann"
          ? { scope: "read", sessions: "ann/" }
          : given === token
            ? { scope: "full" }
            : undefined,
    });
    const client = await server.client();
    for (const key of ["ann/s", "bob/s"])
      await client.end((await client.call("chat.send", message([attachment], key))).runId);
    const query = { id: await idOf(server, "ann/s"), part: "1" };
    assert.equal((await load(server, { ...query, sessionKey: "ann/s" }, "ann")).status, 200);
    const theirs = { id: await idOf(server, "bob/s"), part: "1", sessionKey: "bob/s" };
    assert.equal((await load(server, theirs, "ann")).status, 403);
    assert.equal((await load(server, { ...query, sessionKey: "ann/s" }, "other")).status, 401);
  });

  it("is refused for a wire that does not take it, before anything is stored", async () => {
    const pending = createMemoryPending();
    const model = getModel("anthropic", "claude");
    await using server = await gatewayWith([], {
      pending,
      backendFor: () => ({ model, streamFn: () => assert.fail(), isPractice: false }),
    });
    const client = await server.client();
    const sound: Attachment = { mimeType: "audio/mpeg", data: "AAAA" };
    assert.equal(await client.refused("chat.send", message([sound])), "bad_params");
    assert.match(
      client.frames.at(-1)?.error?.message ?? "",
      /anthropic\/claude does not take an attachment: anthropic-messages cannot send the file/,
    );
    assert.deepEqual(await pending.list(), []);
  });
});
