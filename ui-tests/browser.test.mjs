// `useChat` in Chromium against examples/programs/use-chat-*.ts.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { chromium } from "playwright-core";
import { findChromium } from "../runtime-tests/chromium.mjs";
import { startExample } from "./example-server.mjs";
import { startModel } from "./model-server.mjs";

const executablePath = findChromium();
const skip =
  executablePath === undefined && "there is no Chromium: install it, or name it in CHROMIUM_PATH";
const examples = [
  { example: "examples/programs/use-chat-hono.ts", isKept: true },
  { example: "examples/programs/use-chat-express.ts", isKept: false },
  { example: "ui-tests/next-server.mjs", isKept: false },
];

for (const { example, isKept } of examples)
  describe(`useChat with ${example}`, { skip }, () => {
    let browser, model, server;
    let chats = 0;
    before(async () => {
      [model, browser] = await Promise.all([
        startModel(),
        chromium.launch({
          executablePath,
          args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        }),
      ]);
      server = await startExample(example, model.url);
    });
    after(async () => {
      await browser?.close();
      await server?.close();
      model?.close();
    });

    /** A page on a chat of its own. */
    async function open() {
      const page = await browser.newPage();
      page.setDefaultTimeout(15_000);
      const faults = [];
      page.on("pageerror", (error) => faults.push(error.message));
      await page.goto(`${server.url}/#chat-${++chats}`);
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

    it("shows why a post was refused", async () => {
      await using tab = await open();
      await say(tab.page, "pay Ann 5");
      await tab.page.getByRole("button", { name: "Approve" }).waitFor();
      await ready(tab.page);
      await say(tab.page, "and now?");
      await tab.page.locator("#error", { hasText: "A run is going on." }).waitFor();
    });
  });
