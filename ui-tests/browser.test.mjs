// `useChat` in Chromium against examples/programs/use-chat-*.ts.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { chromium } from "playwright-core";
import { startSystem, systemIsMissing } from "../cluster/kit/system.ts";
import { findChromium } from "../runtime-tests/chromium.mjs";
import { startExample } from "./example-server.mjs";
import { startModel } from "./model-server.mjs";

const executablePath = findChromium();
const noBrowser =
  executablePath === undefined && "there is no Chromium: install it, or name it in CHROMIUM_PATH";
const counted = Array.from({ length: 100 }, (_, index) => index + 1).join(" ");
const examples = [
  { example: "examples/programs/use-chat-hono.ts", isKept: true },
  { example: "examples/programs/use-chat-express.ts", isKept: false },
  { example: "ui-tests/next-server.mjs", isKept: false },
  { example: "examples/programs/use-chat-cluster.ts", isKept: true, isCluster: true },
];

/** Starts a cluster with the agent of the examples. */
function startCluster(modelUrl) {
  return startSystem({
    agentModule: join(import.meta.dirname, "cluster-agents.mjs"),
    restateNodes: 1,
    natsServers: 1,
    workers: 2,
    env: { MODEL_URL: modelUrl, OPENAI_API_KEY: "k" },
  });
}

for (const { example, isKept, isCluster = false } of examples) {
  const skip = noBrowser || (isCluster && systemIsMissing());
  describe(`useChat with ${example}`, { skip }, () => {
    let browser, cluster, model, server;
    let chats = 0;
    before(async () => {
      [model, browser] = await Promise.all([
        startModel(),
        chromium.launch({
          executablePath,
          args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        }),
      ]);
      cluster = isCluster ? await startCluster(model.url) : undefined;
      server = await startExample(example, model.url, envOf(cluster));
    });
    after(async () => {
      await browser?.close();
      await server?.close();
      await cluster?.[Symbol.asyncDispose]();
      model?.close();
    });

    /** A page on a chat, by default one of its own. */
    async function open(chat = `chat-${++chats}`, at = server) {
      const page = await browser.newPage();
      page.setDefaultTimeout(30_000);
      const faults = [];
      page.on("pageerror", (error) => faults.push(error.message));
      await page.goto(`${at.url}/#${chat}`);
      await page.getByLabel("Message").waitFor();
      return { page, faults, [Symbol.asyncDispose]: () => page.close() };
    }
    async function say(page, text) {
      await page.getByLabel("Message").fill(text);
      await page.keyboard.press("Enter");
    }
    const ready = (page) => page.locator("#status", { hasText: "ready" }).waitFor();
    const toolOf = (page, state) => page.locator(`.tool[data-state="${state}"]`);
    const answers = (page) => page.locator("li.assistant").count();

    it("shows an answer, and metadata with the reason", async () => {
      await using tab = await open();
      await say(tab.page, "hello");
      await tab.page.getByText("Heard: hello").waitFor();
      await ready(tab.page);
      assert.equal(await tab.page.locator("li.assistant").getAttribute("data-reason"), "done");
      assert.deepEqual(tab.faults, []);
    });

    it("runs a call after it is approved, in the same message", async () => {
      await using tab = await open();
      await say(tab.page, "pay Ann 5");
      await tab.page.getByRole("button", { name: "Approve" }).click();
      await tab.page.getByText("Heard: Paid 5 EUR to Ann.").waitFor();
      assert.match(
        await toolOf(tab.page, "output-available").textContent(),
        /"Paid 5 EUR to Ann\."/,
      );
      await ready(tab.page);
      assert.equal(await answers(tab.page), 1);
      assert.deepEqual(tab.faults, []);
    });

    it("does not run a call that is denied", async () => {
      await using tab = await open();
      await say(tab.page, "pay Ann 5");
      await tab.page.getByRole("button", { name: "Deny" }).click();
      await tab.page.getByText("Heard: Denied: too much.").waitFor();
      await toolOf(tab.page, "output-denied").waitFor();
    });

    it("asks about two calls of one answer, one after the other", async () => {
      await using tab = await open();
      await say(tab.page, "pay Ann 5, pay Bob 6");
      await tab.page.getByRole("button", { name: "Approve" }).click();
      await tab.page
        .locator(".tool", { hasText: "Bob" })
        .getByRole("button", { name: "Deny" })
        .click();
      await toolOf(tab.page, "output-available").waitFor();
      await toolOf(tab.page, "output-denied").waitFor();
      await ready(tab.page);
      assert.equal(await tab.page.locator(".tool").count(), 2);
      assert.equal(await answers(tab.page), 1);
    });

    it("stops a run, whose text stays", async () => {
      await using tab = await open();
      await say(tab.page, "count");
      await tab.page.getByText("1 2 3").waitFor();
      await tab.page.getByRole("button", { name: "Stop" }).click();
      await ready(tab.page);
      assert.equal(await tab.page.locator("li.assistant").getAttribute("data-reason"), "aborted");
      assert.ok(!(await tab.page.locator("li.assistant").textContent()).includes(" 100 "));
      await say(tab.page, "hello");
      await tab.page.getByText("Heard: hello").waitFor();
    });

    it("shows the running answer whole after a reload, and the rest as it comes", async () => {
      await using tab = await open();
      await say(tab.page, "count");
      await tab.page.getByText("1 2 3 4 5").waitFor();
      await tab.page.reload();
      await tab.page.getByText("1 2 3 4 5").waitFor();
      await tab.page.getByText(/ 98 99 100/).waitFor();
      await ready(tab.page);
      assert.equal(
        (await tab.page.locator("li.assistant").textContent()).trim().split(" ").length,
        100,
      );
      assert.equal(await tab.page.locator("li").count(), 2);
      await tab.page.reload();
      await tab.page.getByText(/ 98 99 100/).waitFor();
      assert.equal(await tab.page.locator("li").count(), 2);
    });

    it("asks again after a reload, and the answer counts", async () => {
      await using tab = await open();
      await say(tab.page, "pay Ann 5");
      await tab.page.getByRole("button", { name: "Approve" }).waitFor();
      await tab.page.reload();
      await tab.page.getByRole("button", { name: "Approve" }).click();
      await tab.page.getByText("Heard: Paid 5 EUR to Ann.").waitFor();
      await ready(tab.page);
      assert.equal(await tab.page.locator("li").count(), 2);
    });

    it(
      "runs a call that is approved after the server was killed and started again",
      { skip: !isKept && "its chats are in memory" },
      async () => {
        await using tab = await open();
        await say(tab.page, "pay Ann 5");
        await tab.page.getByRole("button", { name: "Approve" }).waitFor();
        await ready(tab.page); // the response has ended
        await server.restart();
        await tab.page.getByRole("button", { name: "Approve" }).click();
        await tab.page.getByText("Heard: Paid 5 EUR to Ann.").waitFor();
        await ready(tab.page);
        assert.equal(await tab.page.locator("li").count(), 2);
        assert.equal(await tab.page.locator(".tool").count(), 1);
      },
    );

    it(
      "goes on in a page of another web server: the answer, its approval, and both at their end",
      { skip: !isCluster && "its runs are in one process" },
      async () => {
        await using tab = await open();
        const chat = new URL(tab.page.url()).hash.slice(1);
        await say(tab.page, "count");
        await tab.page.getByText("1 2 3 4 5").waitFor();
        const second = await startExample(example, model.url, envOf(cluster));
        try {
          await using other = await open(chat, second);
          for (const { page } of [tab, other]) {
            await page.getByText(/ 98 99 100/).waitFor();
            await ready(page);
            assert.equal((await page.locator("li.assistant").textContent()).trim(), counted);
          }
          await say(tab.page, "pay Ann 5");
          await tab.page.getByRole("button", { name: "Approve" }).waitFor();
          await other.page.reload();
          await other.page.getByRole("button", { name: "Approve" }).click();
          await other.page.getByText("Heard: Paid 5 EUR to Ann.").waitFor();
          await ready(other.page);
          assert.equal(await other.page.locator("li").count(), 4);
          await say(other.page, "hello");
          await other.page.getByText("Heard: hello").waitFor();
          await tab.page.reload();
          await tab.page.getByText("Heard: hello").waitFor();
          assert.equal(await tab.page.locator("li").count(), 6);
        } finally {
          await second.close();
        }
      },
    );

    it(
      "shows each word of an answer once when each worker and a gateway are killed",
      { skip: !isCluster && "its runs are in one process", timeout: 120_000 },
      async () => {
        await using tab = await open();
        await say(tab.page, "count");
        await tab.page.getByText("1 2 3 4 5").waitFor();
        for (const node of [...cluster.workers, cluster.gateways[0]]) {
          await node.kill();
          await node.start();
        }
        await tab.page.getByText(/ 98 99 100/).waitFor();
        await ready(tab.page);
        assert.equal((await tab.page.locator("li.assistant").textContent()).trim(), counted);
        assert.deepEqual(tab.faults, []);
      },
    );

    it("shows why a post was refused", async () => {
      await using tab = await open();
      await say(tab.page, "pay Ann 5");
      await tab.page.getByRole("button", { name: "Approve" }).waitFor();
      await ready(tab.page);
      await say(tab.page, "and now?");
      await tab.page.locator("#error", { hasText: "A run is going on." }).waitFor();
    });
  });
}

function envOf(cluster) {
  if (cluster === undefined) return {};
  return { GATEWAY_URL: cluster.addresses.gateway, GATEWAY_TOKEN: cluster.token };
}
