// Runs the scenario in a real browser, with the built files served from loopback and found by an
// import map.
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join, normalize, relative } from "node:path";
import { chromium } from "playwright-core";

const root = join(import.meta.dirname, "..");

export function findChromium() {
  const places = [
    process.env.CHROMIUM_PATH,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
  ];
  return places.find((path) => path !== undefined && existsSync(path));
}

/** Resolves to "ok", or to the error that the page threw. */
export async function runInChromium(executablePath, scenario, modelServer, timeLimitMs) {
  const answer = serve(relative(root, scenario), modelServer);
  const server = createServer((request, response) => void answer(request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await chromium.launch({
    executablePath,
    headless: true,
    timeout: timeLimitMs,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
  try {
    const page = await browser.newPage();
    const errors = [];
    page.on("pageerror", (error) => errors.push(error.stack ?? error.message));
    page.on("requestfailed", (request) => {
      // the model server breaks connections, and its requests are aborted
      if (request.url().startsWith(modelServer)) return;
      errors.push(`${request.url()}: ${request.failure()?.errorText}`);
    });
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page
      .waitForFunction(() => "outcome" in globalThis, undefined, { timeout: timeLimitMs })
      .catch((error) => {
        errors.push(error.message);
      });
    const outcome = await page.evaluate(() => globalThis.outcome);
    return errors.length === 0 ? outcome : errors.join("\n");
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}

function serve(scenario, modelServer) {
  const page = `<!doctype html><title>smoke</title><link rel="icon" href="data:,">
<script type="importmap">${JSON.stringify({ imports: importMap() })}</script>
<script type="module">
globalThis.modelServer = "${modelServer}";
import("/${scenario}").then(() => { globalThis.outcome = "ok"; }, (error) => { globalThis.outcome = String(error?.stack ?? error); });
</script>`;
  return async (request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    if (path === "/")
      return response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
    try {
      const body = await readFile(join(root, normalize(path)));
      return response
        .writeHead(200, { "content-type": "text/javascript; charset=utf-8" })
        .end(body);
    } catch {
      return response.writeHead(404).end();
    }
  };
}

/** Maps core's entries to files, from the manifest that bundlers read. */
function importMap() {
  const { exports } = JSON.parse(readFileSync(join(root, "packages/core/package.json"), "utf8"));
  const entries = Object.entries(exports).filter(([, target]) => typeof target === "object");
  return Object.fromEntries(
    entries.map(([key, target]) => [
      `@bowline/core${key.slice(1)}`,
      `/${join("packages/core", target.default)}`,
    ]),
  );
}
