// The React hook of docs/gateway.md over `bowline/conversation`, in Chromium against a gateway.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Agent, defineTool } from "@bowline/core";
import { createMemoryStore } from "@bowline/core/session";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { createGateway } from "bowline/gateway";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { findChromium } from "../runtime-tests/chromium.mjs";

const executablePath = findChromium();
const skip =
  executablePath === undefined && "there is no Chromium: install it, or name it in CHROMIUM_PATH";
const docs = readFileSync(join(import.meta.dirname, "../docs/gateway.md"), "utf8");
const hook = /^```jsx\n(.*?)^```/ms.exec(docs)[1];
const page = `${hook}
import { createRoot } from "react-dom/client";
import { GatewayClient } from "bowline/client";

const client = new GatewayClient({ url: location.origin.replace("http", "ws") + "/agents", token: "secret" });
function Chat() {
  const { runs } = useConversation(client, "ann");
  const send = () => client.post("chat.send", { sessionKey: "ann", message: "When?" });
  const lines = runs.flatMap(({ blocks, state }) => [
    ...blocks.map((block) => block.type + ": " + (block.output ?? block.text)),
    state,
  ]);
  return <><button onClick={send}>Send</button><pre>{lines.join("\\n")}</pre></>;
}
createRoot(document.body.appendChild(document.createElement("main"))).render(<Chat />);
`;

describe("the hook of the page about the gateway", { skip }, () => {
  it("shows a run as it goes on, and the same after a reload", async () => {
    const { outputFiles } = await build({
      stdin: { contents: page, loader: "jsx", resolveDir: import.meta.dirname },
      bundle: true,
      format: "esm",
      jsx: "automatic",
      conditions: ["@bowline/source"],
      write: false,
      define: { "process.env.NODE_ENV": '"production"' },
    });
    const tide = defineTool({
      name: "tide",
      description: "The next high water",
      parameters: { type: "object", properties: {} },
      execute: () => "14:10",
    });
    const { model, streamFn } = createScriptedModel([
      { content: [scriptedToolCall("tide", {})] },
      "At 14:10.",
    ]);
    const gateway = await createGateway({
      path: "/agents",
      token: "secret",
      store: createMemoryStore(),
      agents: () => new Agent({ model, streamFn, tools: [tide] }),
    });
    const html =
      '<!doctype html><link rel="icon" href="data:,"><body><script type="module" src="/page.js"></script>';
    const server = createServer((request, response) => {
      if (gateway.handleRequest(request, response)) return;
      const isPage = request.url === "/";
      response.writeHead(200, { "content-type": isPage ? "text/html" : "text/javascript" });
      response.end(isPage ? html : outputFiles[0].text);
    });
    server.on("upgrade", (request, socket, head) => {
      if (!gateway.handleUpgrade(request, socket, head)) socket.destroy();
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const browser = await chromium.launch({
      executablePath,
      args: ["--no-sandbox", "--disable-gpu"],
    });
    try {
      const tab = await browser.newPage();
      await tab.goto(`http://127.0.0.1:${server.address().port}/`);
      await tab.getByRole("button", { name: "Send" }).click();
      await tab.getByText("final").waitFor({ timeout: 15_000 });
      const shown = "user: When?\ntool_call: 14:10\ntext: At 14:10.\nfinal";
      assert.equal(await tab.locator("pre").textContent(), shown);
      await tab.reload();
      await tab.getByText("final").waitFor({ timeout: 15_000 });
      assert.equal(await tab.locator("pre").textContent(), shown);
    } finally {
      await browser.close();
      await gateway.close();
      server.closeAllConnections();
      server.close();
    }
  });
});
