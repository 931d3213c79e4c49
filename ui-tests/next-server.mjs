// Calls the route handler of examples/programs/use-chat-next.ts as Next.js does.
import { serve } from "@hono/node-server";
import * as route from "../examples/programs/use-chat-next.ts";

function answer(request) {
  const [, , , ...path] = new URL(request.url).pathname.split("/").map(decodeURIComponent);
  const handle = route[request.method] ?? (() => new Response(null, { status: 405 }));
  return handle(request, { params: Promise.resolve(path.length > 0 ? { path } : {}) });
}
serve({ fetch: answer, hostname: "127.0.0.1", port: Number(process.env.PORT) });
