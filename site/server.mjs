// The built site on 127.0.0.1.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const types = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};

/** Resolves to `{ url, close }`; `port` 0 takes any free one. */
export async function serveSite(folder, port = 0) {
  const server = createServer((request, response) => void answer(folder, request, response));
  await once(server.listen(port, "127.0.0.1"), "listening");
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

async function answer(folder, request, response) {
  try {
    const { pathname } = new URL(request.url, "http://127.0.0.1");
    // A path is normalised from its root, so that it cannot lead out of the folder.
    const path = normalize(`/${decodeURIComponent(pathname)}`);
    const file = path.endsWith("/") ? `${path}index.html` : extname(path) ? path : `${path}.html`;
    const body = await readFile(join(folder, file));
    const type = types[extname(file)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type }).end(body);
  } catch {
    response.writeHead(404, { "content-type": "text/plain" }).end("Not found");
  }
}
