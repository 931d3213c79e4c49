/**
 * The documented transcript with wscat, `bowline serve` and aimock, a third-party mock server, in
 * place of Anthropic.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import { temporary } from "../command.ts";
import { started, type Started } from "../serving.ts";
import { TestClient } from "./gateway.ts";
import { wscatSession } from "./processes.ts";

const KEY = "sk-ant-for-this-test";

interface Frame {
  readonly type?: string;
  readonly ok?: boolean;
  readonly notice?: string;
  readonly model?: { readonly provider: string; readonly isPractice: boolean };
  readonly id?: string;
  readonly result?: { readonly runId: string; readonly sessionKey: string };
  readonly event?: string;
  readonly data?: {
    readonly runId: string;
    readonly text?: string;
    readonly usage?: Record<string, number>;
  };
}

/** Answers at once, in small pieces. Anything outside the script gets a 503. */
async function anthropic(): Promise<LLMock & AsyncDisposable> {
  const mock = new LLMock({
    port: 0,
    strict: true,
    auth: { apiKeys: [KEY] },
    chunkSize: 2,
    latency: 0,
  });
  const usage = { input_tokens: 25, output_tokens: 7 };
  mock.on({ userMessage: "What is 2+2?" }, { content: "2 + 2 equals 4.", usage });
  mock.on({ userMessage: "And 3+3?" }, { content: "3 + 3 equals 6.", usage });
  await mock.start();
  return Object.assign(mock, { [Symbol.asyncDispose]: () => mock.stop() });
}

function serving(home: string, mock: LLMock): Promise<Started> {
  const env = {
    BOWLINE_TOKEN: "mysecrettoken",
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: `${mock.url}/v1`,
  };
  return started(home, ["--port", "0"], env);
}

describe("bowline serve with aimock as Anthropic", () => {
  // Requirements: J1, J36, J37, J38, J39, X25
  it("runs the documented transcript with wscat, with the response before the deltas", async () => {
    await using home = await temporary();
    await using mock = await anthropic();
    await using server = await serving(home.path, mock);
    const printed = await wscatSession(
      server.url.replace("http", "ws").replace("127.0.0.1", "localhost"),
      [
        '{"type":"auth","token":"mysecrettoken"}',
        '{"id":"2","method":"chat.send","params":{"sessionKey":"test","message":"What is 2+2?"}}',
      ],
      (line) => line.includes('"event":"chat.final"'),
    );
    const [auth, response, ...events] = printed.map((line) => JSON.parse(line) as Frame);
    assert.deepEqual([auth?.type, auth?.ok, auth?.notice], ["auth", true, undefined]);
    assert.deepEqual([auth?.model?.provider, auth?.model?.isPractice], ["anthropic", false]);
    const runId = response?.result?.runId ?? "";
    assert.match(runId, /^[0-9a-f-]{36}$/);
    assert.deepEqual([response?.id, response?.result?.sessionKey], ["2", "test"]);
    const last = events.pop();
    assert.ok(
      events.length > 3 && events.every(({ event }) => event === "chat.delta"),
      JSON.stringify(events),
    );
    assert.ok([...events, last].every((frame) => frame?.data?.runId === runId));
    assert.equal(events.map(({ data }) => data?.text).join(""), "2 + 2 equals 4.");
    const { inputTokens, outputTokens, cost = 0 } = last?.data?.usage ?? {};
    assert.deepEqual([last?.event, inputTokens, outputTokens], ["chat.final", 25, 7]);
    assert.ok(cost > 0, "the model's price is known");

    const [request, ...more] = mock.getRequests();
    assert.deepEqual(
      [more.length, request?.path, request?.response.status],
      [0, "/v1/messages", 200],
    );
    assert.match(JSON.stringify(request?.body), /Core Directives/);
    assert.ok(
      !server.said().includes(KEY) && !server.said().includes("mysecrettoken"),
      server.said(),
    );
  });

  it("answers each of many requests before the first event of its run", async () => {
    await using home = await temporary();
    await using mock = await anthropic();
    await using server = await serving(home.path, mock);
    const client = await TestClient.enter(server.url.replace("http", "ws"), "mysecrettoken", "all");
    const runs = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        client.call("chat.send", {
          sessionKey: `s${at % 5}`,
          message: at % 2 === 0 ? "What is 2+2?" : "And 3+3?",
        }),
      ),
    );
    for (const { runId } of runs) {
      assert.equal((await client.end(runId)).event, "chat.final");
      const answered = client.frames.findIndex(
        ({ result }) => (result as { runId?: string } | undefined)?.runId === runId,
      );
      const begun = client.frames.findIndex(
        ({ event, data }) => event !== undefined && data?.runId === runId,
      );
      assert.ok(answered >= 0 && answered < begun, `answered ${answered}, begun ${begun}`);
    }
    client.socket.terminate();
  });

  it("reports the vendor's refusal without the key", async () => {
    await using home = await temporary();
    await using mock = await anthropic();
    await using server = await started(home.path, ["--port", "0"], {
      BOWLINE_TOKEN: "mysecrettoken",
      ANTHROPIC_API_KEY: "sk-ant-a-wrong-key-0123456789",
      ANTHROPIC_BASE_URL: `${mock.url}/v1`,
    });
    const client = await TestClient.enter(server.url.replace("http", "ws"), "mysecrettoken", "all");
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "What is 2+2?" });
    const { errorKind, error } = await client.event("chat.error", runId);
    assert.deepEqual([errorKind, error.status], ["auth", 401]);
    assert.ok(!JSON.stringify(client.frames).includes("sk-ant-a-wrong-key"));
    client.socket.terminate();
  });
});
