// Calls the route handler of examples/programs/use-chat-next.ts as Next.js does.
import { serve } from "@hono/node-server";
import { GET, POST } from "../examples/programs/use-chat-next.ts";

function answer(request) {
  const [, , , ...path] = new URL(request.url).pathname.split("/").map(decodeURIComponent);
  const handle = request.method === "POST" ? POST : GET;
  return handle(request, { params: Promise.resolve(path.length > 0 ? { path } : {}) });
}
serve({ fetch: answer, hostname: "127.0.0.1", port: Number(process.env.PORT) });
