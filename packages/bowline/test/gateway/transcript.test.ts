import assert from "node:assert/strict";
import { it } from "node:test";
import { temporary } from "../command.ts";
import { serveProcess, wscatSession } from "./processes.ts";

// Requirements: J1, J36, J37, J38, J39, J41, X25
it("runs the documented transcript with wscat without a key, answered by the practice model", async () => {
  await using home = await temporary();
  await using server = await serveProcess({
    BOWLINE_HOME: home.path,
    BOWLINE_TOKEN: "mysecrettoken",
  });
  const printed = await wscatSession(
    server.url.replace("http", "ws").replace("127.0.0.1", "localhost"),
    [
      '{"type":"auth","token":"mysecrettoken"}',
      '{"id":"2","method":"chat.send","params":{"sessionKey":"test","message":"What is 2+2?"}}',
    ],
    (line) => line.includes('"event":"chat.final"'),
  );
  const frames = printed.map((line) => JSON.parse(line) as Record<string, never>);
  const [auth, response, ...events] = frames as unknown as [
    { type: string; ok: boolean; notice: string; model: { isPractice: boolean } },
    { id: string; result: { runId: string } },
    ...{ event: string; data: { runId: string; text?: string; usage?: Record<string, number> } }[],
  ];
  assert.deepEqual([auth.type, auth.ok, auth.model.isPractice], ["auth", true, true]);
  assert.match(auth.notice, /practice model.*not an LLM/);
  const { runId } = response.result;
  assert.equal(response.id, "2");
  assert.ok(events.every(({ data }) => data.runId === runId));
  const last = events.pop();
  assert.deepEqual(new Set(events.map(({ event }) => event)), new Set(["chat.delta"]));
  assert.match(events.map(({ data }) => data.text).join(""), /4/);
  assert.equal(last?.event, "chat.final");
  assert.equal(typeof last?.data.usage?.inputTokens, "number");
  assert.equal(typeof last?.data.usage?.outputTokens, "number");
});
