import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import type { AxeResults } from "axe-core";
import { defineTool, BowlineError, type AgentTool } from "@bowline/core";
import { scriptedToolCall, type ScriptedStep } from "@bowline/core/testing";
import type { Page } from "playwright-core";
import { agents } from "../gateway/gateway.ts";
import { pageGateway, said, skip, useBrowser, write } from "./browser.ts";
import { png } from "./pictures.ts";

const openTab = useBrowser();
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
const markdown =
  "## Parts\n\n1. `one`\n2. *two* and [a link](https://example.com)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n```ts\nconst a = 1;\n```";

const bash: AgentTool = defineTool({
  name: "bash",
  description: "Runs.",
  parameters: { type: "object" },
  execute: () => "done",
});
const call = (command: string): ScriptedStep => ({
  content: [
    { type: "thinking", thinking: "First this." },
    scriptedToolCall("bash", { command }, command),
  ],
  usage: { input: 1000, output: 20 },
});

/** Returns the serious and critical violations that axe-core finds, in light and in dark. */
async function findings(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() =>
      (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
    );
    for (const { id, impact, nodes } of violations)
      if (impact === "serious" || impact === "critical")
        found.push(
          ...nodes.map(
            ({ html, failureSummary }) => `${colorScheme}, ${id}: ${html}\n${failureSummary}`,
          ),
        );
  }
  return found;
}

describe("the page, for everyone", { skip }, () => {
  for (const [name, options] of Object.entries({ "a desktop": {}, "a phone": phone }))
    it(`has no serious axe-core violation, empty and full, in light and in dark, on ${name}`, async () => {
      const failure = {
        error: new BowlineError("overloaded", "Too much to do.", { retryable: false }),
      };
      const other = { id: "reviewer", model: "scripted/scripted", description: "Reads." };
      await using server = await pageGateway([call("ls"), markdown, failure, call("git status")], {
        agents: () => [...agents, other],
        tools: () => [bash],
        backendFor: ({ model: wanted }) => {
          if (wanted !== "scripted/scripted")
            throw new BowlineError("invalid_argument", `${wanted} names no provider.`);
          return { model: server.model.model, streamFn: server.model.streamFn, isPractice: false };
        },
      });
      await using tab = await openTab(server.gateway.url, options);
      const { page } = tab;
      await page.getByText("What shall we do?").waitFor();
      await page
        .locator("input[type=file]")
        .setInputFiles([png("one.png", 30, 20), png("two.png", 400, 300, true)]);
      await page.getByRole("button", { name: "Remove two.png" }).waitFor();
      await page
        .locator("input[type=file]")
        .setInputFiles([{ ...png("three.png", 9, 9), buffer: Buffer.from("three") }]);
      await page.getByText("three.png is not a PNG").waitFor();
      assert.deepEqual(await findings(page), []);
      await page.getByRole("button", { name: /^Answers here/ }).click();
      await page.getByLabel("Model").fill("nobody/nothing");
      await page.keyboard.press("Enter");
      await page.getByText("nobody/nothing names no provider.").waitFor();
      assert.deepEqual(await findings(page), []);
      await page.keyboard.press("Escape");
      await write(page, "Go");
      await page.getByRole("button", { name: "Allow once" }).click();
      await page.locator(".code").waitFor();
      await page.locator(".card summary").click();
      await page.locator(".thinking summary").click();
      await write(page, "Again");
      await page.getByRole("button", { name: "Try again" }).click();
      await page.locator(".question").waitFor();
      await write(page, "Meanwhile");
      await page.locator(".waiting li").waitFor();
      assert.deepEqual(await findings(page), []);
      if ("isMobile" in options) {
        await page.getByRole("button", { name: "Conversations" }).click();
        await page.locator(".is-drawer-open .session").waitFor();
      }
      await page.getByRole("button", { name: /^Actions/ }).click();
      assert.deepEqual(await findings(page), []);
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("dialog").waitFor();
      assert.deepEqual(await findings(page), []);
    });

  it("fails this check when it has a violation", async () => {
    await using server = await pageGateway([]);
    await using tab = await openTab(server.gateway.url, { hash: "" });
    await tab.page.getByRole("button", { name: "Connect" }).waitFor();
    assert.deepEqual(await findings(tab.page), []);
    await tab.page.evaluate(() => document.querySelector("label[for=token]")?.remove());
    assert.match((await findings(tab.page)).join(), /label/);
  });

  it("fits a phone: nothing is wider than the screen, and the list is a drawer", async () => {
    const wide = `A${"verylongword".repeat(30)}\n\n\`\`\`\n${"x".repeat(300)}\n\`\`\`\n\n|${" column |".repeat(20)}\n|${"---|".repeat(20)}\n|${" cell |".repeat(20)}`;
    await using server = await pageGateway([wide, call("y".repeat(200)), "Done."], {
      tools: () => [bash],
    });
    await using tab = await openTab(server.gateway.url, phone);
    const { page } = tab;
    await write(page, "z".repeat(300));
    await page.locator(".run-foot").waitFor();
    await write(page, "Now");
    await page.locator(".question").waitFor();
    const names = ["one", "two", "three"].map((name) => `${name.repeat(20)}.png`);
    await page.locator("input[type=file]").setInputFiles(names.map((name) => png(name, 200, 100)));
    await page.locator(".chosen-images li").nth(2).waitFor();
    const tooWide = await page.evaluate(() => {
      const width = document.documentElement.clientWidth;
      const scroll = [document.documentElement, document.querySelector(".scroller") as Element];
      return scroll
        .filter((one) => one.scrollWidth > width)
        .map(({ className, scrollWidth }) => `${className} ${scrollWidth}`);
    });
    assert.deepEqual(tooWide, []);
    const list = page.locator("#sessions");
    assert.equal(await list.isVisible(), false);
    await page.getByRole("button", { name: "Conversations" }).click();
    await list.getByRole("link").waitFor();
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Conversations" }).click();
    await list.getByRole("button", { name: "New" }).click();
    await list.waitFor({ state: "hidden" });
    await page.getByText("What shall we do?").waitFor();
  });

  it("is light or dark as the system or the user's setting says", async () => {
    await using server = await pageGateway([]);
    await using tab = await openTab(server.gateway.url, { colorScheme: "dark" });
    const { page } = tab;
    const background = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.getByText("What shall we do?").waitFor();
    assert.equal(await background(), "rgb(22, 24, 27)");
    await page.getByRole("radio", { name: "Light" }).check();
    assert.equal(await background(), "rgb(255, 255, 255)");
    await page.reload();
    await page.getByText("What shall we do?").waitFor();
    assert.equal(await background(), "rgb(255, 255, 255)");
    await page.getByRole("radio", { name: "Auto" }).check();
    assert.equal(await background(), "rgb(22, 24, 27)");
    await page.emulateMedia({ colorScheme: "light" });
    assert.equal(await background(), "rgb(255, 255, 255)");
  });
});

describe("the page by keyboard alone", { skip }, () => {
  const focused = (page: Page): Promise<string> =>
    page.evaluate(() => {
      const { activeElement: one } = document;
      return one?.id || one?.className || (one?.tagName ?? "");
    });

  it("answers questions, which never take the focus themselves, and returns the focus", async () => {
    await using server = await pageGateway([call("one"), call("two"), call("three"), "Done."], {
      tools: () => [bash],
    });
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await page.getByText("What shall we do?").waitFor();
    await page.keyboard.press("Alt+M");
    await page.keyboard.type("Go");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("on");
    await page.keyboard.press("Enter");
    await page.locator(".question").waitFor();
    assert.equal(await page.locator(".asked p").textContent(), "Go\non");
    assert.match(
      (await page.locator("[data-said=questions]").textContent()) ?? "",
      /May this run\? bash: one\./,
    );
    // Typed letters go into the message and do not answer the question.
    assert.equal(await focused(page), "message");
    await page.keyboard.type("ad");
    assert.equal(await page.locator(".question").count(), 1);
    await page.keyboard.press("Alt+A");
    assert.equal(await focused(page), "question");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator(".question").count(), 1);
    await page.keyboard.press("a");
    await page.getByRole("group", { name: "May this run? bash: two" }).waitFor();
    await page.waitForFunction(() => document.activeElement?.id === "message");
    await page.keyboard.press("Alt+A");
    await page.keyboard.press("d");
    const third = page.getByRole("group", { name: "May this run? bash: three" });
    await third.waitFor();
    await page.waitForFunction(() => document.activeElement?.id === "message");
    await page.keyboard.press("Alt+A");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await said(page, "Done.", { exact: true }).waitFor();
    assert.deepEqual(
      await page
        .locator(".card .tool-state")
        .allTextContents()
        .then((all) => all.map((text) => text.split(" ·")[0])),
      ["Done", "Denied", "Done"],
    );
    assert.match((await page.locator("[data-said=answers]").textContent()) ?? "", /^Done\.$/);
  });

  it("lets a user skip the list to reach the message, use a session's actions, and leave the dialog", async () => {
    await using server = await pageGateway(["Hello."]);
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await write(page, "Hi");
    await page.locator(".session").waitFor();
    await page.reload();
    await page.locator(".session").waitFor();
    assert.equal(await focused(page), "message");
    await page.evaluate(() => (document.querySelector("a, button, input") as HTMLElement).focus());
    assert.equal(await focused(page), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await focused(page), "message");
    await page.getByRole("button", { name: /^Actions/ }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    assert.equal(
      await page.getByRole("button", { name: /^Actions/ }).getAttribute("aria-expanded"),
      "false",
    );
    await page.keyboard.press("Enter");
    for (let times = 0; times < 3; times++) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.equal(await page.locator(".session").count(), 1);
    await page.keyboard.press("Alt+N");
    await page.getByText("What shall we do?").waitFor();
    assert.equal(await focused(page), "message");
  });

  it("sends nothing while an input method is composing, and announces an answer once it is complete", async () => {
    const answer = "An answer in several pieces.";
    await using server = await pageGateway([answer, answer], { pace: { delayMs: 30 } });
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    const field = page.getByLabel("Message", { exact: true });
    await field.fill("にほん");
    await field.evaluate((one) =>
      one.dispatchEvent(
        new KeyboardEvent("keydown", {
          key: "Enter",
          isComposing: true,
          bubbles: true,
          cancelable: true,
        }),
      ),
    );
    assert.equal(await field.inputValue(), "にほん");
    await page.evaluate(() => {
      const spoken: string[] = [];
      Object.assign(globalThis, { spoken });
      const live = document.querySelector("[data-said=answers]") as Element;
      new MutationObserver(() => spoken.push(live.textContent ?? "")).observe(live, {
        childList: true,
        characterData: true,
        subtree: true,
      });
    });
    await page.keyboard.press("Enter");
    await page.locator(".run-foot").waitFor();
    await page.waitForFunction(
      () => (globalThis as unknown as { spoken: string[] }).spoken.length > 0,
    );
    // The same text is announced again when it is answered again.
    await write(page, "again");
    await page.locator(".run-foot").nth(1).waitFor();
    await page.waitForFunction(
      () => (globalThis as unknown as { spoken: string[] }).spoken.length > 1,
    );
    assert.deepEqual(
      await page.evaluate(() => (globalThis as unknown as { spoken: string[] }).spoken),
      [answer, answer],
    );
  });
});
