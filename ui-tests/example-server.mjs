// The example's server as a process of its own, and before it a server with the page.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request as send } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const page =
  '<!doctype html><title>useChat</title><link rel="icon" href="data:,"><body><script type="module" src="/page.js"></script>';

/** Bundles the page, starts the example and the server before it. `env` is for the example. */
export async function startExample(example, modelUrl, env = {}) {
  const folder = await mkdtemp(join(tmpdir(), "bowline-ui-"));
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "page.jsx")],
    bundle: true,
    format: "esm",
    jsx: "automatic",
    minify: true,
    write: false,
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const port = await freePort();
  let child = await startChild(example, { modelUrl, port, folder, env });
  const front = createServer((request, response) => {
    if (request.url.startsWith("/api/")) return proxy(request, response, port);
    const isPage = request.url === "/";
    const type = isPage ? "text/html; charset=utf-8" : "text/javascript; charset=utf-8";
    response.writeHead(200, { "content-type": type }).end(isPage ? page : outputFiles[0].text);
  });
  await new Promise((resolve) => front.listen(0, "127.0.0.1", resolve));
  const kill = async () => {
    child.kill("SIGKILL");
    await once(child, "close");
  };
  return {
    url: `http://127.0.0.1:${front.address().port}`,
    /** Kills the example's process and starts another over the same files. */
    async restart() {
      await kill();
      child = await startChild(example, { modelUrl, port, folder, env });
    },
    async close() {
      await kill();
      front.closeAllConnections();
      front.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startChild(example, { modelUrl, port, folder, env }) {
  const options = ["--conditions=@bowline/source", "--disable-warning=ExperimentalWarning"];
  const child = spawn(process.execPath, [...options, join(root, example)], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      MODEL_URL: modelUrl,
      OPENAI_API_KEY: "k",
      PORT: String(port),
      ...env,
    },
    stdio: ["ignore", "inherit", "inherit"],
  });
  for (let tries = 0; tries < 600 && child.exitCode === null; tries++) {
    const isUp = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (isUp) return child;
    await sleep(50);
  }
  throw new Error(`${example} does not listen.`);
}

function proxy(request, response, port) {
  const { method, url, headers } = request;
  const onward = send({ port, host: "127.0.0.1", method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
    answer.on("aborted", () => response.destroy()); // pipe() leaves it open
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
