// The server of a page with `useChat` on Express: tools, approvals, stop, reload and resume.
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { Agent, defineTool, getModel } from "@bowline/core";
import { ChatRuns, openChats } from "@bowline/core/ui-stream";
import express, { type Request as Asked, type Response as Answer } from "express";
import { z } from "zod";

const pay = defineTool({
  name: "pay",
  description: "Pays a bill",
  parameters: z.object({ to: z.string(), euros: z.number() }),
  needsApproval: true,
  execute: ({ to, euros }) => `Paid ${euros} EUR to ${to}.`,
});
const model = getModel("openai", "gpt-5-mini", { baseUrl: process.env.MODEL_URL });
const agents = () => new Agent({ model, tools: [pay] });
const mayUse = (_chatId: string, _caller: Asked) => true; // yours: called for each request
const open = openChats({ agents, mayUse }); // in memory; with a store on disk

function send(answer: Answer, response: Response): void {
  answer.status(response.status).setHeaders(response.headers);
  if (!response.body) return void answer.end();
  const body = Readable.fromWeb(response.body as ReadableStream);
  answer.on("close", () => body.destroy()); // a page that leaves does not stop the run
  body.on("error", () => answer.destroy()).pipe(answer);
}

const chats = new ChatRuns();
const app = express().use(express.json({ limit: "50mb" }));
app.post("/api/chat", async (c, to) => send(to, await chats.post(c.body, open(c))));
app.get("/api/chat/:id", async (c, to) => {
  to.json(await chats.messages(c.params.id, open(c)));
});
app.get("/api/chat/:id/stream", async (c, to) =>
  send(to, await chats.resume(c.params.id, open(c))),
);
app.post("/api/chat/:id/stop", async (c, to) => {
  to.json({ stopped: await chats.stop(c.params.id, open(c)) });
});
app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
