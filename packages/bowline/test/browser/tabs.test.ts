import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { scriptedToolCall } from "@bowline/core/testing";
import type { Locator } from "playwright-core";
import { heldTool } from "../held-tool.ts";
import { pageGateway, said, skip, useBrowser, write, type Tab } from "./browser.ts";
import { png } from "./pictures.ts";

const openTab = useBrowser();
const hash = "token=the-token-of-this-test&session=s";

describe("a message sent in one tab", { skip }, () => {
  it("appears in the other at once: queued texts, their mode, withdrawals, and images", async () => {
    const { tool, release } = heldTool();
    const call = { content: [scriptedToolCall("wait", {}, "w")] };
    await using server = await pageGateway([call, "Heard.", "Seen."], {
      tools: () => [tool],
      rules: { judge: () => ({ action: "allow" }), add: async () => {} },
    });
    await using one = await openTab(server.gateway.url, { hash });
    await using two = await openTab(server.gateway.url, { hash });
    const waiting = ({ page }: Tab): Locator =>
      page.getByRole("list", { name: "Messages that wait" });
    const line = (tab: Tab, text: string): Locator => waiting(tab).locator("li", { hasText: text });
    await two.page.locator(".welcome").waitFor();
    await write(one.page, "Begin");
    await two.page.locator(".card.is-running").waitFor();
    await write(one.page, "Look at the tests, too");
    await line(two, "Look at the tests, too").getByText("Added at the next step").waitFor();
    await one.page.getByRole("radio", { name: /^Queue/ }).check();
    const picture = png("red.png", 40, 30);
    await one.page.locator("input[type=file]").setInputFiles([picture]);
    await one.page.getByRole("button", { name: "Remove red.png" }).waitFor();
    await write(one.page, "What is this?");
    await line(two, "What is this? (image/png)").getByText("Queued").waitFor();
    await write(one.page, "Never this");
    await line(two, "Never this").waitFor();
    // A tab that opens later shows it as well. With a read token it cannot withdraw the message.
    await using late = await openTab(server.gateway.url, {
      hash: "token=for-reading-only&session=s",
    });
    await line(late, "Never this").waitFor();
    assert.deepEqual(await waiting(late).locator(".waiting-text").allTextContents(), [
      "Look at the tests, too",
      "What is this? (image/png)",
      "Never this",
    ]);
    assert.equal(await waiting(late).getByRole("button").count(), 0);
    await line(two, "Never this").getByRole("button", { name: "Do not send" }).click();
    for (const tab of [one, two, late])
      await line(tab, "Never this").waitFor({ state: "detached" });
    release();
    for (const tab of [one, two, late]) {
      await said(tab.page, "Seen.").waitFor();
      assert.equal(await waiting(tab).count(), 0);
      assert.deepEqual(await tab.page.locator(".asked p").allTextContents(), [
        "Begin",
        "Look at the tests, too",
        "What is this?",
      ]);
      const image = tab.page.getByRole("list", { name: "Attached images" });
      const text = (await image.innerText()).replaceAll(/\s+/g, " ").trim();
      assert.equal(text, `${tab === one ? "red.png" : "image/png"} ${picture.buffer.length} bytes`);
      assert.deepEqual(tab.faults, []);
    }
  });
});

describe("a fork from the middle", { skip }, () => {
  it("starts with the conversation up to that answer, by keyboard, and leaves the original unchanged", async () => {
    await using server = await pageGateway(["About apples.", "About pears.", "Another way."]);
    await using tab = await openTab(server.gateway.url, { hash });
    const { page } = tab;
    for (const fruit of ["Apples", "Pears"]) {
      await write(page, fruit);
      await said(page, `About ${fruit.toLowerCase()}.`).waitFor();
    }
    const fork = page.getByRole("button", { name: "Fork from here" });
    await fork.nth(1).waitFor();
    await fork.first().focus();
    await page.keyboard.press("Enter");
    await said(page, "About pears.").waitFor({ state: "detached" });
    await said(page, "About apples.").waitFor();
    assert.notEqual(new URL(page.url()).hash, "#session=s");
    await page.getByRole("navigation").getByRole("link", { name: "Fork of Apples" }).waitFor();
    assert.equal(await page.locator(".run").count(), 1);
    await write(page, "Quinces");
    await said(page, "Another way.").waitFor();
    assert.deepEqual(
      server.model.calls.at(-1)?.context.messages.map(({ role }) => role),
      ["user", "assistant", "user"],
    );
    await page.goBack();
    await said(page, "About pears.").waitFor();
    assert.equal(await page.locator(".run").count(), 2);
    // The same after reading the transcript.
    await page.reload();
    await fork.nth(1).waitFor();
    await fork.first().click();
    await said(page, "About pears.").waitFor({ state: "detached" });
    await said(page, "About apples.").waitFor();
    assert.equal(await page.locator(".run").count(), 1);
    assert.deepEqual(tab.faults, []);
  });
});
