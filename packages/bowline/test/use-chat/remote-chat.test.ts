/** A session of a gateway as a chat of `ChatRuns`. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defineTool } from "@bowline/core";
import { createMemoryStore, createSession } from "@bowline/core/session";
import { createScriptedModel, scriptedToolCall, type ScriptedStep } from "@bowline/core/testing";
import { ChatRuns } from "@bowline/core/ui-stream";
import { GatewayClient } from "../../src/gateway/client/client.ts";
import { remoteChat } from "../../src/use-chat/index.ts";
import { gatewayWith, token, wait, type TestGateway } from "../gateway/gateway.ts";

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const touch = defineTool({
  name: "touch",
  description: "Touches a file.",
  parameters: { type: "object", properties: { path: { type: "string" } } } as const,
  execute: () => "done",
});

/** A web server over the gateway, without its state. */
function webServer({ gateway }: TestGateway, own = token) {
  const client = new GatewayClient({ url: gateway.url, token: own });
  const chats = new ChatRuns();
  const open = (id: string) => remoteChat(client, `web/${id}`);
  const post = (body: object) => chats.post({ id: "c", trigger: "submit-message", ...body }, open);
  return {
    client,
    say: (text: string, ...more: readonly object[]) =>
      post({ messages: [{ id: "m", role: "user", parts: [{ type: "text", text }, ...more] }] }),
    answer: (approvalId: string, approved: boolean, input: unknown) =>
      post({
        messages: [
          {
            id: "a",
            role: "assistant",
            parts: [
              {
                type: "dynamic-tool",
                toolName: "touch",
                toolCallId: "t",
                input,
                state: "approval-responded",
                approval: { id: approvalId, approved },
              },
            ],
          },
        ],
      }),
    resume: () => chats.resume("c", open),
    stop: () => chats.stop("c", open),
    messages: () => chats.messages("c", open),
    [Symbol.dispose]: () => client.close(),
  };
}

async function chunksOf(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text();
  return text
    .split("\n\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
}
const textIn = (chunks: readonly Record<string, unknown>[]) =>
  chunks.map(({ type, delta }) => (type === "text-delta" ? delta : "")).join("");

describe("a remote chat", () => {
  it("sends text and images, and has the messages of earlier runs", async () => {
    await using server = await gatewayWith(["One.", "Two."]);
    using web = webServer(server);
    assert.deepEqual(await web.messages(), []);
    const image = { type: "file", mediaType: "image/png", url: `data:image/png;base64,${png}` };
    assert.equal(textIn(await chunksOf(await web.say("Look", image))), "One.");
    assert.equal(textIn(await chunksOf(await web.say("And now?"))), "Two.");
    const [first] = server.model.calls;
    const { content } = first?.context.messages.at(-1) ?? {};
    assert.deepEqual(
      (content as readonly { readonly type: string }[]).map(({ type }) => type),
      ["text", "image"],
    );
    using other = webServer(server);
    const said = (await other.messages()).map(({ role, parts }) => [
      role,
      parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(),
    ]);
    assert.deepEqual(said, [
      ["user", "Look"],
      ["assistant", "One."],
      ["user", "And now?"],
      ["assistant", "Two."],
    ]);
    assert.equal((await other.resume()).status, 204);
  });

  it("shows a message that the gateway refuses as a failed run, and takes the next one", async () => {
    await using server = await gatewayWith(["Fine."]);
    using reader = webServer(server, "for-reading-only");
    const refused = await chunksOf(await reader.say("Look"));
    assert.deepEqual(
      refused.map(({ type }) => type),
      ["start", "message-metadata", "error", "finish"],
    );
    assert.equal((await reader.say("Again")).status, 200); // it does not hold a run
    using web = webServer(server);
    assert.equal(textIn(await chunksOf(await web.say("Then this"))), "Fine.");
  });

  it("takes the answer to an approval at another web server, for what was shown and once", async () => {
    const call = { content: [scriptedToolCall("touch", { path: "a" }, "t")] };
    await using server = await gatewayWith([call, "Touched."], { tools: () => [touch] });
    using web = webServer(server);
    const asked = await chunksOf(await web.say("Touch a"));
    const request = asked.find(({ type }) => type === "tool-approval-request");
    const approvalId = String(request?.approvalId);
    using other = webServer(server);
    assert.equal((await other.answer("none", true, { path: "a" })).status, 409);
    assert.equal((await other.answer(approvalId, true, { path: "b" })).status, 409);
    using third = webServer(server); // follows no run of this chat
    assert.equal((await third.say("Meanwhile")).status, 409);
    const rest = await chunksOf(await other.answer(approvalId, true, { path: "a" }));
    assert.equal(textIn(rest), "Touched.");
    assert.deepEqual(
      rest.filter(({ type }) => type === "tool-output-available").map(({ output }) => output),
      ["done"],
    );
    const [, answer] = await web.messages();
    assert.deepEqual(
      answer?.parts.map(({ type }) => type),
      ["step-start", "dynamic-tool", "step-start", "text"],
    );
  });

  it("stops a run from a web server that did not start it, if its token may", async () => {
    const call = { content: [scriptedToolCall("touch", { path: "a" }, "t")] };
    await using server = await gatewayWith([call, "Touched."], { tools: () => [touch] });
    using web = webServer(server);
    assert.equal(await web.stop(), false);
    await chunksOf(await web.say("Touch a"));
    using reader = webServer(server, "for-reading-only");
    await assert.rejects(reader.stop(), { code: "forbidden" });
    using other = webServer(server);
    assert.equal(await other.stop(), true);
    for (let tries = 0; (await other.resume()).status !== 204; tries++) assert.ok(tries < 100);
    assert.equal(server.model.calls.length, 1);
  });

  it("stops the run of a message that the gateway accepts late, and no other", async () => {
    const step: ScriptedStep = ({ messages }) =>
      messages.at(-1)?.content === "Mine" ? "word ".repeat(2000) : "Other.";
    const pace = { delayMs: 5, deltaLength: 5 };
    const { model, streamFn } = createScriptedModel([step, step], pace);
    const slow = Promise.withResolvers<void>();
    let isSlow = false;
    await using server = await gatewayWith([], {
      backendFor: async () => {
        if (isSlow) await slow.promise;
        return { model, streamFn, isPractice: false };
      },
    });
    using web = webServer(server);
    const other = await server.client();
    await web.messages();
    isSlow = true;
    const mine = await web.say("Mine");
    const sending = other.call("chat.send", { sessionKey: "web/c", message: "Other" });
    let isStopped = false;
    const stopping = web.stop().finally(() => (isStopped = true));
    await wait(100);
    assert.equal(isStopped, false);
    slow.resolve();
    assert.equal(await stopping, true);
    const chunks = await chunksOf(mine);
    assert.deepEqual(
      chunks.slice(-2).map(({ type }) => type),
      ["abort", "finish"],
    );
    const { runId } = await sending;
    assert.equal((await other.end(runId)).event, "chat.final");
  });

  it("has labels for what a program added to the messages of earlier runs", async () => {
    const store = createMemoryStore();
    const session = await createSession(store, { id: "web/c" });
    const content = [
      { type: "text" as const, text: "Mend it" },
      { type: "text" as const, text: "let a;", shownAs: "the file a.ts", shownFile: "a.ts" },
    ];
    await session.append({ type: "message", message: { role: "user", content, timestamp: 1 } });
    await session.close();
    await using server = await gatewayWith([], { store });
    using web = webServer(server);
    assert.deepEqual(
      (await web.messages()).map(({ parts }) => parts),
      [
        [
          { type: "text", text: "Mend it" },
          { type: "data-added", data: { label: "the file a.ts", file: "a.ts" } },
        ],
      ],
    );
  });

  it("aborts nothing without a run of its own, also not one that began since", async () => {
    await using server = await gatewayWith(["One."], { pace: { delayMs: 50 } });
    using web = webServer(server);
    const { agent } = await remoteChat(web.client, "web/c");
    const other = await server.client();
    const { runId } = await other.call("chat.send", { sessionKey: "web/c", message: "Other" });
    await agent.abort();
    assert.equal((await other.end(runId)).event, "chat.final");
  });

  it("follows a session while its run is read, and then no longer", async () => {
    await using server = await gatewayWith(["One.", "Two."]);
    using web = webServer(server);
    const heard: string[] = [];
    web.client.onEvent(({ event }) => void heard.push(event));
    await chunksOf(await web.say("Hi"));
    heard.length = 0;
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "web/c", message: "Other" });
    await client.end(runId);
    await web.messages(); // events that were sent before its response have arrived
    assert.deepEqual(
      heard.filter((event) => event.startsWith("chat.")),
      [],
    );
  });
});
