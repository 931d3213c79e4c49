/** The health checks of a worker, which has no other routes. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RunningCluster } from "./cluster-package.ts";

/** Answers `GET /health` and `GET /ready`, as a gateway does, and 404 otherwise. */
export async function answerProbe(
  cluster: Pick<RunningCluster, "ready">,
  { url = "", method }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path] = url.split("?", 1);
  const isRead = method === "GET" || method === "HEAD";
  if (isRead && path === "/health") return send(response, 200, { status: "ok" });
  if (!isRead || path !== "/ready")
    return send(response, 404, { error: "A worker has /health and /ready only." });
  const readiness = await cluster.ready();
  return send(response, readiness.isReady ? 200 : 503, readiness);
}

function send(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, {
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    })
    .end(JSON.stringify(body));
}
