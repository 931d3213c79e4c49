import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { pageGateway, said, skip, useBrowser, write } from "./browser.ts";
import { house } from "./house.ts";

const openTab = useBrowser();

const control = (page: Page) => page.getByRole("button", { name: /^Answers here/ });
const answers = (page: Page, text: string): Promise<void> =>
  control(page).getByText(text, { exact: true }).waitFor();
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.id ?? "");

describe("the choice of agent and model", { skip }, () => {
  it("is made by keyboard in the top bar before the first message; invalid models are refused in the dialog", async () => {
    const { asked, options } = house(["One.", "Two.", "Three."]);
    await using server = await pageGateway([], options);
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await answers(page, "assistant · house/small");
    await control(page).focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Who answers here" });
    await dialog.waitFor();
    assert.equal(await focused(page), "choose-model");
    const model = dialog.getByLabel("Model");
    assert.equal(await model.inputValue(), "house/small");
    assert.deepEqual(
      await model.evaluate((one: HTMLInputElement) =>
        [...(one.list?.options ?? [])].map((o) => o.value),
      ),
      ["house/small", "house/fine"],
    );
    for (const [wanted, refusal] of [
      ["nobody/large", "nobody/large names no provider."],
      ["house/dear", "house/dear has no key"],
    ] as const) {
      await model.fill(wanted);
      await page.keyboard.press("Enter");
      await dialog.getByRole("alert").getByText(refusal).waitFor();
      assert.equal(await model.inputValue(), wanted);
      assert.equal(await focused(page), "choose-model");
      assert.equal(await model.getAttribute("aria-invalid"), "true");
    }
    await model.fill("house/large");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await answers(page, "assistant · house/large");
    await page.waitForFunction(() => document.activeElement?.classList.contains("top-agent"));
    await write(page, "Hello");
    await said(page, "One.").waitFor();
    assert.deepEqual(asked, ["large"]);

    await control(page).click();
    assert.deepEqual(
      (
        await model.evaluate((one: HTMLInputElement) =>
          [...(one.list?.options ?? [])].map((o) => o.value),
        )
      ).toSorted(),
      ["house/fine", "house/large", "house/small"],
    );
    await model.fill("");
    await page.keyboard.press("Enter");
    await answers(page, "assistant · house/small");
    await control(page).click();
    await dialog.getByLabel("Agent").selectOption("writer");
    assert.equal(await model.inputValue(), "house/fine");
    await dialog.getByRole("button", { name: "Use it" }).click();
    await answers(page, "writer · house/fine");
    await write(page, "And now?");
    await said(page, "Two.").waitFor();
    await control(page).click();
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.reload();
    await answers(page, "writer · house/fine");
    assert.deepEqual(asked, ["large", "fine"]);
    assert.deepEqual(tab.faults, []);
  });

  it("reaches other tabs, also with a filtered list; a read-only token sees it as text", async () => {
    const { asked, options } = house(["One."]);
    await using server = await pageGateway([], options);
    const client = await server.client();
    await client.call("sessions.create", { sessionKey: "s", agentId: "assistant" });
    const hash = "token=the-token-of-this-test&session=s";
    await using one = await openTab(server.gateway.url, { hash });
    await using two = await openTab(server.gateway.url, {
      hash: "token=for-reading-only&session=s",
    });
    await answers(one.page, "assistant · house/small");
    const text = two.page.locator("p.top-agent");
    await text.getByText("assistant · house/small").waitFor();
    assert.equal(await control(two.page).count(), 0);
    await one.page.getByLabel("Search conversations").fill("nothing like it");
    await one.page.getByText("Nothing found.").waitFor();
    await client.call("sessions.patch", { sessionKey: "s", model: "house/large" });
    await answers(one.page, "assistant · house/large");
    await text.getByText("assistant · house/large").waitFor();
    // The agent cards of an empty session set its agent, too.
    await one.page.getByRole("radio", { name: /Writes/ }).check();
    await answers(one.page, "writer · house/fine");
    await text.getByText("writer · house/fine").waitFor();
    await write(one.page, "Hello");
    await said(two.page, "One.").waitFor();
    assert.deepEqual(asked, ["fine"]);
  });
});
