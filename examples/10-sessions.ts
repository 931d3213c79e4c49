// A conversation that outlives its process: stored in a file, opened by its id, forked and
// exported.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool, messageText } from "@bowline/core";
import {
  attachSession,
  createSession,
  openSession,
  sessionToMarkdown,
} from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";

const folder = await mkdtemp(join(tmpdir(), "sessions-")); // replace it with a permanent folder
const store = createJsonlStore(folder);

const weather = defineTool({
  name: "get_weather",
  description: "The weather in a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  replay: "safe", // safe to repeat after a crash, since it only reads
  execute: async ({ city }) => `${city}: 9 °C, rain`,
});

// The examples need no key: this model follows its script.
const newAgent = (...script: Parameters<typeof createScriptedModel>[0]) => {
  const { model, streamFn } = createScriptedModel(script);
  return new Agent({ model, tools: [weather], streamFn });
};

// The first process.
{
  const agent = newAgent(
    { content: [scriptedToolCall("get_weather", { city: "Oslo" })] },
    "It rains in Oslo.",
  );
  await using session = await createSession(store, { id: "trip", metadata: { owner: "ann" } });
  await attachSession(agent, session); // from here on everything is stored
  await agent.prompt("Do I need an umbrella in Oslo?");
}

// Another process, a day later.
const agent = newAgent("Still rain, take a coat too.");
const session = await openSession(store, "trip");
const { interrupted, resume } = await attachSession(agent, session);
// finishes the run that the earlier process left open
if (interrupted !== undefined) await resume();
console.log(agent.state.messages.length, "messages from before");
const { message } = await agent.prompt("And tomorrow?");
console.log(message && messageText(message));

const fork = await session.fork({ id: "trip, other hotel" });
console.log((await fork.allMessages()).length, "messages in the fork");
await fork.close();
await session.close();

const { sessions } = await store.list({ search: "umbrella" });
console.log(sessions.length, "sessions:", sessions[0]?.title);
const [header = "", ...lines] = (await readFile(join(folder, "trip.jsonl"), "utf8"))
  .trim()
  .split("\n");
console.log(header.slice(0, 62), "…");
console.log(lines.map((line) => (JSON.parse(line) as { type: string }).type).join(" "));
console.log((await sessionToMarkdown(session)).trim().split("\n").at(-1));
await rm(folder, { recursive: true });

/* Prints:
4 messages from before
Still rain, take a coat too.
6 messages in the fork
2 sessions: Do I need an umbrella in Oslo?
{"format":"bowline session","version":1,"id":"trip","createdAt …
run_start message message tool_intent tool_result message message run_end run_start message message run_end
Still rain, take a coat too.
*/
