// A chat server: a session for each chat, tools, abort, and clients that may be slow or leave.
import { serve } from "@hono/node-server";
import { Agent, defineTool, getModel } from "@bowline/core";
import { resumeSession } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";
import { Hono } from "hono";
import { z } from "zod";

const store = createJsonlStore("./chats");
const weather = defineTool({
  name: "get_weather",
  description: "The weather of a city, now",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `${city}: 9 °C, rain`,
});

const agents = new Map<string, Promise<Agent>>();
function agentOf(chat: string): Promise<Agent> {
  let agent = agents.get(chat);
  if (!agent) {
    agent = open(chat);
    agents.set(chat, agent);
    agent.catch(() => agents.delete(chat));
  }
  return agent;
}
async function open(chat: string): Promise<Agent> {
  const model = getModel("openai", "gpt-5-mini", { baseUrl: process.env.MODEL_URL });
  const agent = new Agent({ model, systemPrompt: "You are brief.", tools: [weather] });
  await resumeSession(store, chat, agent, { create: true }); // finishes a run that a crash left open
  return agent;
}

const app = new Hono();
app.post("/chats/:id", async (c) => {
  const [agent, message] = await Promise.all([agentOf(c.req.param("id")), c.req.text()]);
  if (agent.state.isStreaming) return c.json({ error: "A run is going on." }, 409);
  return agent.stream(message, { signal: c.req.raw.signal }).toResponse();
});
app.delete("/chats/:id/run", async (c) => {
  (await agentOf(c.req.param("id"))).abort();
  return c.body(null, 204);
});
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 3000) });
