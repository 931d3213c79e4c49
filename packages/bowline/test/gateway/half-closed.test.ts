/**
 * Clients that half-close their connection after the request, as `nc` and some proxies do, and
 * still expect the response.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createJsonlStore } from "@bowline/core/session/node";
import { scriptedToolCall } from "@bowline/core/testing";
import { PATIENCE_MS } from "../../../../test/support/within.ts";
import { temporary } from "../command.ts";
import { RawHttp } from "../fuzz/raw-http.ts";
import { heldTool } from "../held-tool.ts";
import { gatewayWith, token, wait, type TestGateway } from "./gateway.ts";

const head = `host: localhost\r\nauthorization: Bearer ${token}\r\n`;
const get = (path: string): Buffer => Buffer.from(`GET ${path} HTTP/1.1\r\n${head}\r\n`);
const post = (body: object): Buffer => {
  const text = JSON.stringify(body);
  return Buffer.from(
    `POST /api/chat HTTP/1.1\r\n${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
};

async function open({ gateway }: TestGateway): Promise<RawHttp> {
  const raw = await RawHttp.open(gateway.port);
  // Before the end of the patience, so that an assertion shows what has come.
  const limit = setTimeout(() => raw.socket.destroy(), 0.8 * PATIENCE_MS).unref();
  void raw.ended.then(() => clearTimeout(limit));
  return raw;
}

async function begin(server: TestGateway): Promise<string> {
  const raw = await open(server);
  raw.ask("POST", post({ sessionKey: "s", message: "go" }));
  await raw.until(1);
  raw.socket.destroy();
  return (JSON.parse(raw.answers[0]?.body ?? "") as { events: string }).events;
}

/** Returns the text and the numbers of a stream, and how it ends. */
function read({ answers: [answer] }: RawHttp): {
  readonly text: string;
  readonly last: string;
  readonly seqs: number[];
} {
  assert.ok(answer?.isWhole, `it was cut: ${answer?.status} ${answer?.body.slice(-200)}`);
  const events = [...answer.body.matchAll(/^id: (\d+)\nevent: (.+)\ndata: (.+)$/gm)];
  const parts = events.flatMap(([, , event, data = ""]) =>
    event === "chat.delta" ? [(JSON.parse(data) as { text: string }).text] : [],
  );
  return {
    text: parts.join(""),
    last: events.at(-1)?.[2] ?? "",
    seqs: events.map(([, seq]) => Number(seq)),
  };
}

describe("a client that half-closes its connection", () => {
  it("gets a whole short response, and then the end", async () => {
    await using server = await gatewayWith(["Yes."], {
      page: () => wait(20).then(() => new Response("page")),
    });
    const asked: readonly [method: string, bytes: Buffer, status: number][] = [
      ["GET", get("/health"), 200],
      ["GET", get("/slow page"), 400],
      ["GET", get("/page"), 200],
      ["GET", get("/api/runs/none/events?sessionKey=s"), 404],
      ["POST", post({ sessionKey: "s", message: "go" }), 202],
      ["POST", post({ sessionKey: "s" }), 400],
    ];
    for (const [method, bytes, status] of asked) {
      const raw = await open(server);
      raw.ask(method, bytes);
      raw.socket.end();
      await raw.ended;
      assert.deepEqual(
        raw.answers.map((answer) => [answer.status, answer.isWhole]),
        [[status, true]],
        bytes.toString(),
      );
    }
  });

  it("gets all responses to pipelined requests, in order", async () => {
    await using server = await gatewayWith(["word ".repeat(20)], { pace: { delayMs: 2 } });
    const events = await begin(server);
    const raw = await open(server);
    for (const path of ["/health", `${events}&seq=-1`, "/api/none"]) raw.ask("GET", get(path));
    raw.socket.end();
    await raw.ended;
    assert.deepEqual(
      raw.answers.map(({ status, isWhole }) => [status, isWhole]),
      [
        [200, true],
        [200, true],
        [404, true],
      ],
    );
    assert.match(raw.answers[1]?.body ?? "", /\nevent: chat\.final\n/);
  });

  it("gets all of a run, whenever it half-closes", async () => {
    const answer = Array.from({ length: 60 }, (_, index) => `word ${index} `).join("");
    const moments: Readonly<Record<string, (raw: RawHttp) => Promise<void>>> = {
      "with the request": async () => {},
      "before the head of the answer was read": () => wait(1),
      "with the first events": async ({ socket }) =>
        void (await new Promise((resolve) => socket.once("data", resolve))),
      "in the middle": () => wait(40),
    };
    for (const [moment, come] of Object.entries(moments)) {
      await using server = await gatewayWith([answer], { pace: { delayMs: 2 } });
      const events = await begin(server);
      const raw = await open(server);
      raw.ask("GET", get(`${events}&seq=-1`));
      await come(raw);
      raw.socket.end();
      await raw.ended;
      const { text, last, seqs } = read(raw);
      assert.deepEqual([text, last], [answer, "chat.final"], moment);
      assert.deepEqual(seqs, [...seqs.keys()], moment);
    }
  });

  it("gets all of a run that is read from the disk", async () => {
    await using home = await temporary();
    const store = createJsonlStore(home.path);
    const answer = "word ".repeat(100_000);
    let events = "";
    {
      await using first = await gatewayWith([answer], { store, pace: { deltaLength: 64_000 } });
      events = await begin(first);
      const raw = await open(first);
      raw.ask("GET", get(events));
      await raw.until(1);
      raw.socket.destroy();
    }
    await using second = await gatewayWith([], { store });
    const raw = await open(second);
    raw.ask("GET", get(events));
    raw.socket.end();
    await raw.ended;
    const { body = "", isWhole } = raw.answers[0] ?? {};
    assert.ok(
      isWhole && body.includes(answer) && body.includes("\nevent: chat.final\n"),
      body.slice(0, 200),
    );
  });

  it("gets all of a run that continued while the client did not read", async () => {
    const answer = Array.from({ length: 150 }, (_, index) => `${index}`.padEnd(64_000, "-")).join(
      "",
    );
    await using server = await gatewayWith([answer], {
      limits: { maxBufferedBytes: 32 * 1024 * 1024, maxReplayLength: 32 * 1024 * 1024 },
      pace: { deltaLength: 64_000, delayMs: 0.1 },
    });
    const events = await begin(server);
    const raw = await open(server);
    raw.socket.pause();
    raw.ask("GET", get(`${events}&seq=-1`));
    raw.socket.end();
    const client = await server.client({ events: ["chat.final"] });
    await client.call("chat.subscribe", { sessionKey: "s" });
    for (let left = 5000; left > 0 && (await client.call("health.check", {})).runs > 0; left--)
      await wait(10);
    raw.socket.resume();
    await raw.ended;
    const { text, last } = read(raw);
    assert.deepEqual([text === answer, last], [true, "chat.final"]);
  });

  it("is dropped within two ticks once it has disconnected completely", async () => {
    const { tool, release } = heldTool();
    await using server = await gatewayWith(
      [{ content: [scriptedToolCall("wait", {}, "w")] }, "Done."],
      {
        limits: { tickIntervalMs: 30 },
        tools: () => [tool],
        rules: { judge: () => ({ action: "allow" }), add: async () => {} },
      },
    );
    const events = await begin(server);
    const raw = await open(server);
    raw.ask("GET", get(events));
    await new Promise((resolve) => raw.socket.once("data", resolve));
    raw.socket.destroy();
    const client = await server.client();
    for (
      let left = 5000;
      left > 0 && (await client.call("health.check", {})).connections > 1;
      left--
    )
      await wait(5);
    assert.equal((await client.call("health.check", {})).connections, 1);
    release();
  });
});
