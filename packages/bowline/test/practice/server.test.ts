import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { after, before, describe, it } from "node:test";
import { plan, startPracticeServer } from "../../src/practice/index.ts";
import type { PracticeReply, PracticeServer } from "../../src/practice/index.ts";

const tools = ["read", "glob", "write"].map((name) => ({ type: "function", function: { name } }));
const user = (content: string): { role: string; content: string }[] => [{ role: "user", content }];

interface Chunk {
  readonly object: string;
  readonly model: string;
  readonly choices: readonly { readonly delta: Delta; readonly finish_reason: string | null }[];
  readonly usage?: Record<string, number>;
}

interface Delta {
  readonly role?: string;
  readonly content?: string;
  readonly tool_calls?: readonly {
    index: number;
    id?: string;
    type?: string;
    function: { name?: string; arguments: string };
  }[];
}

function toChunks(body: string): Chunk[] {
  const events = body.split("\n\n");
  assert.equal(events.pop(), "");
  assert.equal(events.pop(), "data: [DONE]");
  return events.map((event) => {
    assert.ok(event.startsWith("data: ") && !event.includes("\n"));
    return JSON.parse(event.slice(6)) as Chunk;
  });
}

/** Joins the chunks into the reply and its finish reason, as a client does. */
function toReply(
  chunks: readonly Chunk[],
): PracticeReply & { finish: string | null | undefined; fragments: number } {
  const calls: { id: string; name: string; text: string }[] = [];
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  let fragments = 0;
  for (const { index, id, function: part } of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
    if (id !== undefined) calls[index] = { id, name: part.name ?? "", text: "" };
    const call = calls[index];
    assert.ok(call !== undefined, "a fragment comes after the id and name of its call");
    call.text += part.arguments;
    if (part.arguments !== "") fragments++;
  }
  const toolCalls = calls.map(({ id, name, text }) => ({
    id,
    name,
    arguments: JSON.parse(text) as Record<string, unknown>,
  }));
  const text = deltas.map(({ content }) => content ?? "").join("");
  return {
    text,
    toolCalls,
    fragments,
    finish: chunks.flatMap(({ choices }) => choices).at(-1)?.finish_reason,
  };
}

describe("the practice server", () => {
  let server: PracticeServer;
  before(async () => {
    server = await startPracticeServer({ paceMs: 0 });
  });
  after(() => server.close());
  const post = (body: unknown, path = "/chat/completions"): Promise<Response> =>
    fetch(server.baseUrl + path, {
      method: "POST",
      // A kept connection may be closed by the server in the moment in which the next test uses it.
      headers: { connection: "close" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });

  it("listens on loopback and streams the replies of plan()", async () => {
    assert.match(server.baseUrl, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    for (const content of [
      "what can you do?",
      "read a.txt",
      "list the files in src and test",
      `write "${"é 😀 \\n ".repeat(200)}" to a.txt`,
      "what is 2 + 2?",
    ]) {
      const response = await post({
        model: "practice",
        messages: user(content),
        tools,
        stream: true,
      });
      assert.equal(response.status, 200);
      assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
      const chunks = toChunks(await response.text());
      const { text, toolCalls, finish, fragments } = toReply(chunks);
      assert.deepEqual({ text, toolCalls }, plan({ messages: user(content), tools }));
      assert.equal(finish, toolCalls.length > 0 ? "tool_calls" : "stop");
      assert.equal(chunks[0]?.choices[0]?.delta.role, "assistant");
      assert.ok(
        chunks.every(
          ({ object, model, usage }) =>
            object === "chat.completion.chunk" && model === "practice" && usage === undefined,
        ),
      );
      assert.ok(chunks.filter(({ choices }) => choices[0]?.finish_reason !== null).length === 1);
      if (toolCalls.length > 0)
        assert.ok(fragments > toolCalls.length, "arguments come in several fragments");
    }
  });

  it("streams parallel calls with separate indexes and ids", async () => {
    const response = await post({
      messages: user("read a.txt, b.txt and c.txt"),
      tools,
      stream: true,
    });
    const { toolCalls } = toReply(toChunks(await response.text()));
    assert.deepEqual(
      toolCalls.map((call) => call.arguments["path"]),
      ["a.txt", "b.txt", "c.txt"],
    );
    assert.equal(new Set(toolCalls.map(({ id }) => id)).size, 3);
  });

  it("adds usage as a last chunk without choices on request", async () => {
    const response = await post({
      messages: user("2 + 2"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const last = toChunks(await response.text()).at(-1);
    assert.deepEqual(last?.choices, []);
    const {
      prompt_tokens: prompt = 0,
      completion_tokens: completion = 0,
      total_tokens: total,
    } = last?.usage ?? {};
    assert.ok(prompt > 0 && completion > 0 && total === prompt + completion);
  });

  it("answers a request without a stream as one JSON body", async () => {
    const body = (await (await post({ messages: user("read a.txt"), tools })).json()) as {
      object: string;
      choices: {
        message: { role: string; tool_calls: { function: { name: string; arguments: string } }[] };
        finish_reason: string;
      }[];
      usage: object;
    };
    const [choice] = body.choices;
    assert.equal(body.object, "chat.completion");
    assert.equal(choice?.finish_reason, "tool_calls");
    assert.equal(choice.message.role, "assistant");
    assert.deepEqual(choice.message.tool_calls[0]?.function, {
      name: "read",
      arguments: '{"path":"a.txt"}',
    });
    assert.ok("prompt_tokens" in body.usage);
  });

  it("calls no tool when tool_choice is none", async () => {
    const response = await post({
      messages: user("read a.txt"),
      tools,
      tool_choice: "none",
      stream: true,
    });
    assert.match(toReply(toChunks(await response.text())).text, /not offered/);
  });

  it("lists its model", async () => {
    const body = (await (await fetch(`${server.baseUrl}/models?limit=1`)).json()) as {
      object: string;
      data: { id: string; object: string }[];
    };
    assert.equal(body.object, "list");
    assert.deepEqual(
      body.data.map(({ id, object }) => [id, object]),
      [["practice", "model"]],
    );
  });

  it("refuses an invalid request with a JSON error that gives the reason", async () => {
    const cases: [Promise<Response>, number, RegExp][] = [
      [post({}, "/embeddings"), 404, /nothing at \/v1\/embeddings/],
      [fetch(`${server.baseUrl}/chat/completions`), 405, /takes POST only/],
      [post({}, "/models"), 405, /takes GET only/],
      [post("{"), 400, /not JSON/],
      [post("null"), 400, /`messages`/],
      [post({ messages: [] }), 400, /`messages`/],
      [post({ messages: [{ content: "hi" }] }), 400, /`messages`/],
      [post({ messages: user("hi"), tools: {} }), 400, /`tools`/],
      [post("x".repeat(32 * 1024 * 1024 + 1)), 413, /33554432 bytes/],
    ];
    for (const [request, status, message] of cases) {
      const response = await request;
      const { error } = (await response.json()) as {
        error: { message: string; type: string; code: string; param: null };
      };
      assert.equal(response.status, status);
      assert.match(error.message, message);
      assert.equal(error.type, "invalid_request_error");
      assert.equal(typeof error.code, "string");
      assert.equal(response.headers.has("allow"), status === 405);
    }
  });

  it("accepts a body of the maximum size", async () => {
    const content = `read ${"x".repeat(31 * 1024 * 1024)}`;
    assert.match(
      await (await post({ messages: user(content), tools })).text(),
      /I do not understand/,
    );
  });
});

describe("the stream of the practice server", () => {
  it("keeps its pace, and stops when the client disconnects", async () => {
    const waits: number[] = [];
    const gone = new EventEmitter();
    const wait = (ms: number, signal: AbortSignal): Promise<void> => {
      if (waits.push(ms) === 1)
        signal.addEventListener("abort", () => gone.emit("gone"), { once: true });
      return sleep(2, undefined, { signal });
    };
    const server = await startPracticeServer({ paceMs: 7, wait });
    const leave = new AbortController();
    const body = JSON.stringify({ messages: user("what can you do?"), stream: true });
    const response = await fetch(`${server.baseUrl}/chat/completions`, {
      method: "POST",
      body,
      signal: leave.signal,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    const heard = once(gone, "gone");
    leave.abort();
    await assert.rejects(async () => void (await reader?.read()), { name: "AbortError" });
    await heard;
    const count = waits.length;
    await sleep(40);
    assert.equal(waits.length, count, "no delta after the disconnect");
    assert.ok(count > 0 && count < 100 && waits.every((ms) => ms === 7));
    await server.close();
  });

  it("takes at most about three seconds by default", async () => {
    let total = 0;
    const wait = (ms: number): Promise<void> => {
      total += ms;
      return Promise.resolve();
    };
    const server = await startPracticeServer({ wait });
    const text = "word ".repeat(5000);
    const messages = [
      ...user("run `x`"),
      { role: "assistant", tool_calls: [{ id: "a", function: { name: "bash" } }] },
      { role: "tool", tool_call_id: "a", content: text },
    ];
    const body = JSON.stringify({
      messages,
      tools: [{ function: { name: "bash" } }],
      stream: true,
    });
    const response = await fetch(`${server.baseUrl}/chat/completions`, { method: "POST", body });
    assert.ok((await response.text()).includes("word"));
    assert.ok(total > 1000 && total < 4000, `${total} ms`);
    await server.close();
  });

  it("ends with the server: close() cuts open streams, frees the port, and can be called twice", async () => {
    const server = await startPracticeServer({ paceMs: 60_000 });
    const body = JSON.stringify({ messages: user("help"), stream: true });
    const response = await fetch(`${server.baseUrl}/chat/completions`, { method: "POST", body });
    await server.close();
    await assert.rejects(response.text());
    await server.close();
    const port = Number(new URL(server.baseUrl).port);
    const again = await startPracticeServer({ port });
    await assert.rejects(startPracticeServer({ port }), { code: "EADDRINUSE" });
    await again.close();
    await assert.rejects(fetch(`${server.baseUrl}/models`));
  });
});
