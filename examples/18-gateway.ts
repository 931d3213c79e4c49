// A gateway in your own program: your agents on a WebSocket and HTTP, for any number of clients.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool } from "@bowline/core";
import { createJsonlStore } from "@bowline/core/session/node";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { GatewayClient } from "bowline/client";
import { createPendingFolder, startGateway } from "bowline/gateway";

const weather = defineTool({
  name: "get_weather",
  description: "The weather in a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => `${city}: 9 °C, rain`,
});
const { model, streamFn } = createScriptedModel([
  { content: [scriptedToolCall("get_weather", { city: "Oslo" })] },
  "It rains in Oslo.",
]);

const folder = await mkdtemp(join(tmpdir(), "gateway-")); // replace it with a permanent folder
const token = "a long secret of yours";
const gateway = await startGateway({
  port: 0, // any free port
  token,
  // Called for each run. With a real model: { model: getModel(…), getApiKey, … } and no streamFn.
  agents: () =>
    new Agent({ model, streamFn, systemPrompt: "You tell the weather.", tools: [weather] }),
  store: createJsonlStore(join(folder, "sessions")), // or your own
  pending: createPendingFolder(join(folder, "pending")), // a restart resumes the open runs
});

const client = new GatewayClient({ url: gateway.url, token });
const run = await client.send({ sessionKey: "ann", message: "Do I need an umbrella in Oslo?" });
for await (const { event, data } of run) {
  if (event === "chat.tool_result") console.log(`${data.name}: ${data.output}`);
  if (event === "chat.final") console.log(data.stopReason);
}
console.log((await run.result()).text);
client.close();
await gateway.close();
await rm(folder, { recursive: true });

/* Prints:
get_weather: Oslo: 9 °C, rain
stop
It rains in Oslo.
*/
