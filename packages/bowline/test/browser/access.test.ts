import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defineTool } from "@bowline/core";
import { scriptedToolCall } from "@bowline/core/testing";
import { token } from "../gateway/gateway.ts";
import { pageGateway, said, skip, useBrowser, write } from "./browser.ts";

const openTab = useBrowser();

describe("the page's token", { skip }, () => {
  it("is removed from the address, stored for the tab only, and reused after a reload", async () => {
    await using server = await pageGateway(["Hello."]);
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await page.getByText("What shall we do?").waitFor();
    assert.match(new URL(page.url()).hash, /^#session=[\da-f-]{36}$/);
    const kept = await page.evaluate(() => [
      JSON.stringify(sessionStorage),
      JSON.stringify(localStorage),
    ]);
    assert.ok(kept[0]?.includes(token));
    assert.ok(!kept[1]?.includes(token));
    await page.reload();
    await page.getByText("What shall we do?").waitFor();
    assert.deepEqual(
      tab.requests.filter((request) => request.includes(token)),
      [],
    );
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Bowline" }).waitFor();
    assert.ok(!(await page.evaluate(() => JSON.stringify(sessionStorage))).includes(token));
  });

  it("is asked for when missing; a wrong one is reported, and a whole link may be pasted", async () => {
    await using server = await pageGateway(["Hello."]);
    await using tab = await openTab(server.gateway.url, { hash: "" });
    const { page } = tab;
    await page.getByLabel("Token", { exact: true }).fill("not-the-token");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("alert").getByText("The token is wrong.").waitFor();
    await page.getByLabel("Token", { exact: true }).fill(`${server.gateway.url}/#token=${token}`);
    await page.getByLabel("Remember it").check();
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("What shall we do?").waitFor();
    const other = await page.context().newPage();
    await other.goto(`${server.gateway.url}/#token=wrong`);
    await other.getByRole("alert").getByText("The token is wrong.").waitFor();
    await other.reload();
    await other.getByText("What shall we do?").waitFor();
  });

  it("may be Base64, both raw in a link and URL-encoded in a pasted link", async () => {
    const full = "ab+/cd==ab+/cd==";
    await using server = await pageGateway([], { tokens: { full } });
    await using tab = await openTab(server.gateway.url, { hash: `token=${full}` });
    await tab.page.getByText("What shall we do?").waitFor();
    await using other = await openTab(server.gateway.url, { hash: "" });
    const link = `${server.gateway.url}/#token=${encodeURIComponent(full)}`;
    await other.page.getByLabel("Token", { exact: true }).fill(link);
    await other.page.getByRole("button", { name: "Connect" }).click();
    await other.page.getByText("What shall we do?").waitFor();
  });

  it("stays in use when a later link has a wrong token, also after a reload", async () => {
    await using server = await pageGateway([]);
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await page.getByText("What shall we do?").waitFor();
    for (const wrong of ["wrong", "also-wrong"]) {
      await page.evaluate((given) => (location.hash = `token=${given}`), wrong);
      await page.getByRole("alert").getByText("The token is wrong.").waitFor();
      await page.reload();
      await page.getByText("What shall we do?").waitFor();
    }
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Bowline" }).waitFor();
    assert.equal(
      (await page.evaluate(() => JSON.stringify(sessionStorage))).includes(token),
      false,
    );
  });

  it("is reported as wrong and not stored when the link has a wrong one", async () => {
    await using server = await pageGateway([]);
    await using tab = await openTab(server.gateway.url, { hash: "token=wrong" });
    await tab.page.getByRole("alert").getByText("The token is wrong.").waitFor();
    assert.ok(!(await tab.page.evaluate(() => JSON.stringify(sessionStorage))).includes("wrong"));
  });

  it("is asked for again when the server restarts with another token", async () => {
    const first = await pageGateway([]);
    await using tab = await openTab(first.gateway.url);
    await tab.page.getByText("What shall we do?").waitFor();
    const { port } = first.gateway;
    await first.gateway.close();
    await tab.page.getByText("The connection is lost.").waitFor();
    await using second = await pageGateway([], { port, tokens: { full: "another-token" } });
    await tab.page.getByRole("alert").getByText("The token is wrong.").waitFor();
    assert.equal(second.gateway.port, port);
    await tab.page.getByLabel("Token", { exact: true }).fill("another-token");
    await tab.page.keyboard.press("Enter");
    await tab.page.getByText("What shall we do?").waitFor();
  });

  it("with read scope shows everything and no control that writes", async () => {
    const bash = defineTool({
      name: "bash",
      description: "Runs.",
      parameters: { type: "object" },
      execute: () => "done",
    });
    const call = { content: [scriptedToolCall("bash", { command: "ls" })] };
    await using server = await pageGateway(["First answer.", call, "Second answer."], {
      tools: () => [bash],
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "One" });
    await client.end(runId);
    await client.call("chat.send", { sessionKey: "s", message: "Two" });
    const { approvalId } = await client.event("exec.approval_request");
    await using tab = await openTab(server.gateway.url, {
      hash: "token=for-reading-only&session=s",
    });
    const { page } = tab;
    await said(page, "First answer.").waitFor();
    await page
      .getByText("Your token is read-only: you can see everything but change nothing.")
      .waitFor();
    await page.getByText("someone else must answer").waitFor();
    await page.locator(".session").waitFor();
    assert.deepEqual(
      (await page.getByRole("button").allTextContents()).map((text) => text.trim()).toSorted(),
      ["CopyCopy answer", "Sign out: forget the token"]
        .map((text) => text.replace("CopyCopy", "Copy"))
        .toSorted(),
    );
    assert.equal(await page.getByRole("textbox").count(), 0);
    await page.locator(".question").focus();
    await page.keyboard.press("a");
    await page.keyboard.press("Escape");
    await client.call("exec.approve", { approvalId });
    await said(page, "Second answer.").waitFor();
    assert.deepEqual(tab.faults, []);
  });
});

describe("the notice about the model", { skip }, () => {
  it("says above the conversation that the practice model answers", async () => {
    const message = "The practice model answers: there is no key for scripted/scripted.";
    await using server = await pageGateway(["Hello."], {
      backendFor: () => ({ ...practice(server), notice: { code: "practice_model", message } }),
    });
    await using tab = await openTab(server.gateway.url);
    await tab.page.locator(".banner").getByText(message).waitFor();
    const welcome = tab.page.locator(".welcome");
    await welcome.getByText("For a real model put its key into the environment or .env,").waitFor();
    await welcome.getByText("or name another model in AGENTS.md.").waitFor();
    await tab.page.getByRole("button", { name: "What can you do?" }).waitFor();
    await write(tab.page, "Hi");
    await said(tab.page, "Hello.").waitFor();
    assert.equal(await said(tab.page, message).count(), 0, "once is enough");
  });
});

function practice({ model }: Awaited<ReturnType<typeof pageGateway>>): {
  model: never;
  streamFn: never;
  isPractice: boolean;
} {
  return { model: model.model as never, streamFn: model.streamFn as never, isPractice: true };
}
