/** The parts of a posted message: a chat in this process and one in a gateway take and refuse the same. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, type AgentMessage } from "@bowline/core";
import { createScriptedModel } from "@bowline/core/testing";
import { ChatRuns, openChats, type OpenChat } from "@bowline/core/ui-stream";
import { GatewayClient } from "../../src/gateway/client/client.ts";
import { remoteChat } from "../../src/use-chat/index.ts";
import { toSendParams } from "../../src/use-chat/sent-message.ts";
import { gatewayWith, token, type TestOptions } from "../gateway/gateway.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const file = (mediaType: string, text: string, filename?: string): object => ({
  type: "file",
  mediaType,
  url: `data:${mediaType};base64,${base64(text)}`,
  ...(filename !== undefined && { filename }),
});
const words = { type: "text", text: "Look" };
const png = file("image/png", "png!");
const pdf = file("application/pdf", "%PDF-1.7", "tides é.pdf");
const text = file("text/plain", "High water: 14:10", "notes.txt");

interface Taken {
  readonly status: number;
  /** The content that the model got. */
  readonly content?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

const mediaTypes = ["image/png", "application/pdf", "text/plain", "application/zip"];

async function post(open: OpenChat, parts: readonly object[]): Promise<Response> {
  const chats = new ChatRuns({ posted: { mediaTypes } });
  const messages = [{ id: "m", role: "user", parts }];
  return chats.post({ id: "c", trigger: "submit-message", messages }, open);
}

async function takenOf(
  response: Response,
  { calls }: Pick<ReturnType<typeof createScriptedModel>, "calls">,
): Promise<Taken> {
  const { status } = response;
  if (status !== 200) {
    assert.equal(calls.length, 0);
    return { status, error: ((await response.json()) as Required<Taken>).error };
  }
  await response.text();
  return { status, content: calls[0]?.context.messages[0]?.content };
}

async function local(parts: readonly object[]): Promise<Taken> {
  const scripted = createScriptedModel(["Seen."]);
  const { model, streamFn } = scripted;
  const agents = (): Agent => new Agent({ model, streamFn });
  const open = openChats({ agents, mayUse: () => true })(undefined);
  return takenOf(await post(open, parts), scripted);
}

async function remote(parts: readonly object[], options: TestOptions = {}): Promise<Taken> {
  await using server = await gatewayWith(["Seen."], options);
  const client = new GatewayClient({ url: server.gateway.url, token });
  try {
    return await takenOf(await post((id) => remoteChat(client, id), parts), server.model);
  } finally {
    client.close();
  }
}

describe("the parts of a posted message", () => {
  const taken: Record<string, readonly object[]> = {
    "a text": [words],
    "an image": [words, png],
    "an image without a text": [png],
    "a PDF with its name": [words, pdf],
    "a text file with its name": [words, text],
    "several files in their order": [words, text, png, pdf],
  };
  for (const [what, parts] of Object.entries(taken))
    it(`reach the model the same from a chat here and in a gateway: ${what}`, async () => {
      const [here, there] = [await local(parts), await remote(parts)];
      assert.equal(here.status, 200);
      assert.deepEqual(there, here);
      const { content } = here as { readonly content: string | readonly unknown[] };
      assert.equal(typeof content === "string" ? 1 : content.length, parts.length);
    });

  const refused: Record<string, readonly object[]> = {
    "a file at a web address": [
      words,
      { type: "file", mediaType: "image/png", url: "https://else.where/x.png" },
    ],
    "a part of an unknown type": [words, { type: "hologram", url: "data:,x" }],
    "a media type that the program does not list": [words, file("text/html", "<b>")],
    "a file that is not Base64": [
      words,
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,abcde" },
    ],
  };
  for (const [what, parts] of Object.entries(refused))
    it(`are refused the same by a chat here and in a gateway: ${what}`, async () => {
      const [here, there] = [await local(parts), await remote(parts)];
      assert.deepEqual([here.status, here.error?.code], [400, "invalid_argument"]);
      assert.deepEqual(there, here);
    });

  it("are refused with the reason if the gateway would not take them", async () => {
    const zip = await remote([words, file("application/zip", "PK", "all.zip")]);
    assert.equal(zip.status, 400);
    assert.match(zip.error?.message ?? "", /"all\.zip" is of the type "application\/zip"/);
    const many = await remote([words, png, png, png], { limits: { maxAttachments: 2 } });
    assert.deepEqual([many.status, many.error?.code], [400, "invalid_argument"]);
    assert.match(many.error?.message ?? "", /at most 2 files/);
    const large = await remote([words, pdf], { limits: { maxAttachmentBytes: 5 } });
    assert.match(large.error?.message ?? "", /have 8 bytes.*at most 5/);
    const long = await remote([{ ...words, text: "x".repeat(101) }], {
      limits: { maxMessageLength: 100 },
    });
    assert.match(long.error?.message ?? "", /at most 100 characters/);
  });
});

describe("a message for the gateway", () => {
  const of = (...content: readonly object[]): AgentMessage[] => [
    { role: "user", content, timestamp: 0 } as unknown as AgentMessage,
  ];

  it("is refused with a code and a reason, not sent in part", () => {
    const cases: [readonly AgentMessage[], RegExp][] = [
      [of(words, { type: "image", url: "https://else.where/x.png" }), /is an address/],
      [
        of(words, {
          type: "file",
          url: "gs://b/a.pdf",
          mimeType: "application/pdf",
          name: "a.pdf",
        }),
        /file "a\.pdf" is an address/,
      ],
      [of(words, { type: "opaque", raw: 1 }), /part of the type "opaque"/],
      [of(words, { type: "image", data: "data:image/png;base64,AAAA" }), /of the type undefined/],
      [
        of(words, { type: "image", mimeType: "image/png", data: "data:image/png;base64,AAAA" }),
        /not in Base64/,
      ],
      [[...of(words), ...of(words)], /one message/],
      [[], /one message/],
      [of(), /empty/],
      [of({ ...words, text: "" }), /empty/],
    ];
    for (const [messages, message] of cases)
      assert.throws(() => toSendParams(messages, undefined), { code: "invalid_argument", message });
  });

  it("has its texts on lines of their own, and names of at most 200 characters", () => {
    const data = base64("abc");
    const note = { type: "file", mimeType: "text/plain", data };
    const sent = toSendParams(
      of(words, { ...note, name: "n".repeat(201) }, { ...words, text: "here" }, note),
      undefined,
    );
    assert.deepEqual(sent, {
      message: "Look\nhere",
      attachments: [
        { mimeType: "text/plain", data, name: "n".repeat(200) },
        { mimeType: "text/plain", data },
      ],
    });
  });
});
