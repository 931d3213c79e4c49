import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agents, type TestGateway } from "../gateway/gateway.ts";
import { pageGateway, said, skip, useBrowser, write } from "./browser.ts";

const openTab = useBrowser();

/** Starts a gateway with these conversations. */
async function withSessions(
  titles: readonly string[],
  script: readonly string[] = [],
): Promise<TestGateway> {
  const server = await pageGateway([...titles.map((title) => `About ${title}.`), ...script]);
  const client = await server.client();
  for (const title of titles) {
    const { runId } = await client.call("chat.send", {
      sessionKey: `key of ${title}`,
      message: title,
    });
    await client.end(runId);
  }
  return server;
}

describe("the list of conversations", { skip }, () => {
  it("opens a conversation, searches by title, and begins a new one", async () => {
    await using server = await withSessions(["Apples", "Pears", "Plums"], ["About cherries."]);
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    const list = page.getByRole("navigation", { name: "Conversations" });
    const titles = list.locator(".session-title");
    await titles.nth(2).waitFor();
    assert.deepEqual(await titles.allTextContents(), ["Plums", "Pears", "Apples"]);
    await list.getByRole("link", { name: "Pears" }).click();
    await said(page, "About Pears.").waitFor();
    assert.equal(await list.locator("[aria-current=page] .session-title").textContent(), "Pears");
    await list.getByLabel("Search conversations").fill("PLU");
    await list.getByRole("link", { name: "Pears" }).waitFor({ state: "detached" });
    assert.deepEqual(await titles.allTextContents(), ["Plums"]);
    await list.getByLabel("Search conversations").fill("nothing like it");
    await list.getByText("Nothing found.").waitFor();
    await list.getByLabel("Search conversations").fill("");
    await titles.nth(2).waitFor();
    await list.getByRole("button", { name: "New" }).click();
    await page.getByText("What shall we do?").waitFor();
    await write(page, "Cherries");
    await said(page, "About cherries.").waitFor();
    await list.getByRole("link", { name: "Cherries" }).waitFor();
    await page.goBack();
    await said(page, "About Pears.").waitFor();
    assert.deepEqual(tab.faults, []);
  });

  it("renames, forks and deletes, and asks before it deletes", async () => {
    await using server = await withSessions(["Apples"], ["In the fork."]);
    await using tab = await openTab(server.gateway.url, {
      hash: "token=the-token-of-this-test&session=key%20of%20Apples",
    });
    const { page } = tab;
    await said(page, "About Apples.").waitFor();
    const actions = (title: string): Promise<void> =>
      page.getByRole("button", { name: `Actions for ${title}` }).click();
    await actions("Apples");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByLabel("Title").fill("Quinces");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Quinces", level: 1 }).waitFor();

    await actions("Quinces");
    await page.getByRole("button", { name: "Fork", exact: true }).click();
    await page.locator(".session").nth(1).waitFor();
    await said(page, "About Apples.").waitFor();
    assert.notEqual(new URL(page.url()).hash, "#session=key%20of%20Apples");
    await write(page, "Only here");
    await said(page, "In the fork.").waitFor();
    const client = await server.client();
    const { messages } = await client.call("chat.history", { sessionKey: "key of Apples" });
    assert.equal(messages.length, 2);

    const shown = page.locator(".session.is-shown");
    await shown.getByRole("button", { name: /^Actions/ }).click();
    await shown.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete this conversation?" });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    assert.equal(await page.locator(".session").count(), 2);
    await shown.getByRole("button", { name: /^Actions/ }).click();
    await shown.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.locator(".session").nth(1).waitFor({ state: "detached" });
    await page.getByText("What shall we do?").waitFor();
    const { sessions } = await client.call("sessions.list", {});
    assert.deepEqual(
      sessions.map(({ sessionKey }) => sessionKey),
      ["key of Apples"],
    );
    assert.deepEqual(tab.faults, []);
  });

  it("follows other clients: new titles, deletions, and questions in other sessions", async () => {
    await using server = await withSessions(["Apples", "Pears"]);
    await using tab = await openTab(server.gateway.url, {
      hash: "token=the-token-of-this-test&session=key%20of%20Apples",
    });
    const { page } = tab;
    await said(page, "About Apples.").waitFor();
    const client = await server.client();
    await client.call("sessions.patch", { sessionKey: "key of Pears", title: "Renamed elsewhere" });
    await page.getByRole("link", { name: "Renamed elsewhere" }).waitFor();
    await client.call("sessions.delete", { sessionKey: "key of Apples" });
    await page.locator(".session").nth(1).waitFor({ state: "detached" });
    await said(page, "About Apples.").waitFor({ state: "detached" });
  });

  it("loads the earlier part of a long conversation on request", async () => {
    await using server = await pageGateway(
      Array.from({ length: 60 }, (_, index) => `Answer ${index}.`),
    );
    const client = await server.client();
    for (let index = 0; index < 60; index++) {
      const { runId } = await client.call("chat.send", {
        sessionKey: "s",
        message: `Question ${index}`,
      });
      await client.end(runId);
    }
    await using tab = await openTab(server.gateway.url, {
      hash: "token=the-token-of-this-test&session=s",
    });
    await said(tab.page, "Answer 59.", { exact: true }).waitFor();
    assert.equal(await tab.page.locator(".run").count(), 50);
    await tab.page.waitForFunction(() => (document.querySelector(".scroller")?.scrollTop ?? 0) > 0); // the view starts at the end
    await tab.page.locator(".scroller").evaluate((one) => one.scrollTo({ top: 0 }));
    await tab.page.getByRole("button", { name: "To the end" }).waitFor();
    // Scrolls to the top and back in one frame. The browser reports only the final position.
    await tab.page.evaluate(async () => {
      [...document.querySelectorAll("button")]
        .find(({ textContent }) => textContent?.includes("To the end"))
        ?.click();
      document.querySelector(".scroller")?.scrollTo({ top: 0 });
      for (let frame = 0; frame < 3; frame++)
        await new Promise((resolve) => requestAnimationFrame(resolve));
    });
    await tab.page.getByRole("button", { name: "To the end" }).waitFor();
    const top = (): Promise<number> =>
      said(tab.page, "Answer 10.", { exact: true }).evaluate((one) =>
        Math.round(one.getBoundingClientRect().top),
      );
    const before = await top();
    // Clicks twice, as an impatient user does.
    await tab.page
      .getByRole("button", { name: "Show earlier messages" })
      .evaluate((button: HTMLElement) => {
        button.click();
        button.click();
      });
    await said(tab.page, "Answer 0.", { exact: true }).waitFor();
    assert.equal(await tab.page.locator(".run").count(), 60);
    assert.ok(Math.abs((await top()) - before) < 60, "what was read is where it was");
    assert.equal(await tab.page.getByRole("button", { name: "Show earlier messages" }).count(), 0);
  });

  it("offers another agent for a new conversation", async () => {
    const other = {
      id: "reviewer",
      model: "scripted/scripted",
      description: "Reads what others wrote.",
    };
    await using server = await pageGateway(["Reviewed."], { agents: () => [...agents, other] });
    await using tab = await openTab(server.gateway.url);
    await tab.page.getByRole("radio", { name: /Reads what others wrote/ }).check();
    await write(tab.page, "Look at this");
    await said(tab.page, "Reviewed.").waitFor();
    const client = await server.client();
    const { sessions } = await client.call("sessions.list", {});
    assert.equal(sessions[0]?.agentId, "reviewer");
    await tab.page.getByText("reviewer · scripted/scripted").waitFor();
  });
});
