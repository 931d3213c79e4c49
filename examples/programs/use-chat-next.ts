// A route handler of Next.js for `useChat`: app/api/chat/[[...path]]/route.ts. It answers
// /api/chat, /api/chat/<id>, /api/chat/<id>/stream and /api/chat/<id>/stop.
import { Agent, defineTool, getModel } from "@bowline/core";
import { ChatRuns, openChats, type OpenChat } from "@bowline/core/ui-stream";
import { z } from "zod";

const pay = defineTool({
  name: "pay",
  description: "Pays a bill",
  parameters: z.object({ to: z.string(), euros: z.number() }),
  needsApproval: true,
  execute: ({ to, euros }) => `Paid ${euros} EUR to ${to}.`,
});
const model = getModel("openai", "gpt-5-mini", { baseUrl: process.env.MODEL_URL });

/** Kept when the development server loads this module again. */
const kept = globalThis as { chats?: ChatRuns; openChat?: (caller: Request) => OpenChat };
const chats = (kept.chats ??= new ChatRuns());
const agents = () => new Agent({ model, tools: [pay] });
const mayUse = (_chatId: string, _caller: Request) => true; // yours: called for each request
const open = (kept.openChat ??= openChats({ agents, mayUse }));

interface Context {
  readonly params: Promise<{ readonly path?: string[] }>;
}

export async function POST(request: Request, { params }: Context): Promise<Response> {
  const { path: [id, action] = [] } = await params;
  if (id === undefined) return chats.post(await request.json(), open(request));
  if (action === "stop") return Response.json({ stopped: await chats.stop(id, open(request)) });
  return new Response(null, { status: 404 });
}

export async function GET(request: Request, { params }: Context): Promise<Response> {
  const { path: [id = "", action] = [] } = await params;
  if (action === "stream") return chats.resume(id, open(request));
  return Response.json(await chats.messages(id, open(request)));
}
