import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defineTool, BowlineError, type AgentTool } from "@bowline/core";
import { scriptedToolCall, type ScriptedStep } from "@bowline/core/testing";
import { token } from "../gateway/gateway.ts";
import { assertStayed, pageGateway, said, skip, useBrowser, write } from "./browser.ts";

const openTab = useBrowser();

const long = Array.from({ length: 30 }, (_, index) => `Sentence ${index} of a long answer.`).join(
  " ",
);
const slow = { pace: { delayMs: 12, deltaLength: 6 } };
/** So long that no test waits for its end. */
const endless = long.concat(" ").repeat(50);

function bash(ran: string[], until: Promise<unknown> = Promise.resolve()): AgentTool {
  return defineTool({
    name: "bash",
    description: "Runs a command.",
    parameters: {
      type: "object",
      properties: { command: { type: "string" } },
      required: ["command"],
    } as const,
    async execute({ command }, run) {
      ran.push(command);
      run.update({ content: [{ type: "text", text: "half" }] });
      await until;
      return Array.from({ length: 30 }, (_, index) => `${command}: line ${index}`).join("\n");
    },
  });
}

const call = (command: string): ScriptedStep => ({
  content: [
    { type: "thinking", thinking: "I should look first." },
    { type: "text", text: "Let me look." },
    scriptedToolCall("bash", { command }, `call-${command}`),
  ],
  usage: {
    input: 1200,
    output: 34,
    cost: { input: 0.01, output: 0.002, cacheRead: 0, cacheWrite: 0, total: 0.012 },
  },
});

const answer: ScriptedStep = {
  content: [{ type: "text", text: "There are **two** files.\n\n```sh\nls -la\n```" }],
  usage: { input: 1300, output: 20 },
};

describe("a conversation in the page", { skip }, () => {
  it("shows, reloads and copies an answer of more than 20,000 characters whole", async () => {
    const whole = `It begins. ${"word ".repeat(12_000)}And this is its end.`;
    await using server = await pageGateway([whole], { pace: { deltaLength: 20_000 } });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    await client.end(runId);
    await using tab = await openTab(server.gateway.url, {
      hash: `token=${token}&session=s`,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const { page } = tab;
    for (const time of ["first", "again"]) {
      await said(page, "And this is its end.").waitFor();
      await page.getByRole("button", { name: "Copy answer" }).click();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      assert.equal(copied.trim(), whole, time);
      await page.reload();
    }
    assert.deepEqual(tab.faults, []);
  });

  // Requirements: X27
  it("streams markdown, folds thinking, asks before a tool runs, and shows its result and cost", async () => {
    const ran: string[] = [];
    await using server = await pageGateway(
      [call("ls"), answer, call("rm -rf build"), "Then I will not."],
      {
        tools: () => [bash(ran)],
      },
    );
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await write(page, "What is here?");
    const question = page.getByRole("group", { name: "May this run? bash: ls" });
    await question.waitFor();
    assert.deepEqual(ran, []);
    assert.equal(await page.locator(".card .tool-state").textContent(), "Waits for you");
    await question.getByRole("button", { name: "Allow once" }).click();
    await said(page, "There are two files.").waitFor();
    assert.deepEqual(ran, ["ls"]);
    assert.match(
      (await page.locator(".card .tool-state").textContent()) ?? "",
      /^Done · (?:\d+ ms|[\d.]+ s)$/,
    );
    assert.equal(await page.locator(".markdown strong").textContent(), "two");
    // Thinking is folded until the reader opens it.
    assert.equal(await page.getByText("I should look first.").count(), 0);
    await page.getByText("Thought").click();
    await page.getByText("I should look first.").waitFor();
    await page.locator(".card summary").click();
    const output = page.getByRole("region", { name: "Output" });
    assert.match((await output.textContent()) ?? "", /line 11$/);
    await page.getByRole("button", { name: "Show all 30 lines" }).click();
    assert.match((await output.textContent()) ?? "", /line 29$/);
    await page.locator("details.usage summary").click();
    assert.match(
      (await page.locator("details.usage").textContent()) ?? "",
      /2 turns.*2\.5k in · 54 out · \$0\.0120/,
    );
    assert.match(
      (await page.locator("details.usage li").first().textContent()) ?? "",
      /scripted\/scripted · 1\.2k in · 34 out/,
    );

    await write(page, "Clean up");
    const second = page.getByRole("group", { name: "May this run? bash: rm -rf build" });
    await second.getByRole("button", { name: "Deny" }).click();
    await said(page, "Then I will not.").waitFor();
    assert.deepEqual(ran, ["ls"]);
    assert.equal(
      await page
        .locator(".card.is-denied .tool-state")
        .textContent()
        .then((text) => text?.split(" ·")[0]),
      "Denied",
    );
    await page.locator(".run-foot").nth(1).waitFor();
    // The list of sessions may hear of the run's end later than the conversation.
    await page.waitForFunction((title) => document.title === title, "What is here? – Bowline");
    assert.deepEqual(tab.faults, []);
    assertStayed(tab.requests, server.gateway.url);
  });

  it("remembers an approval for its pattern and shows the pattern", async () => {
    const ran: string[] = [];
    await using server = await pageGateway([call("git status"), call("git status"), answer], {
      tools: () => [bash(ran)],
    });
    await using tab = await openTab(server.gateway.url);
    await write(tab.page, "Twice");
    await tab.page.getByText("remember git status for bash").waitFor();
    await tab.page.getByRole("button", { name: "Always allow" }).click();
    await said(tab.page, "There are two files.").waitFor();
    assert.deepEqual(ran, ["git status", "git status"]);
  });

  it("asks with all arguments: texts unchanged, invisible characters escaped", async () => {
    const writing: AgentTool = defineTool({
      name: "write",
      description: "Writes.",
      parameters: { type: "object" },
      execute: () => "done",
    });
    const content = 'const a = "\u202eb";\nconst c = 1;';
    const ask = {
      content: [scriptedToolCall("write", { path: "a\u200b.ts", content, append: false }, "w")],
    };
    const hidden = { content: [scriptedToolCall("bash", { command: "echo \u202ex\nls" }, "b")] };
    await using server = await pageGateway([ask, hidden, answer], {
      tools: () => [writing, bash([])],
    });
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await write(page, "Do it");
    const question = page.locator(".question");
    await question.getByText("May write do this?").waitFor();
    assert.deepEqual(await question.locator("dt").allTextContents(), ["path", "content", "append"]);
    assert.deepEqual(await question.locator("dd").allTextContents(), [
      "a\\u{200b}.ts",
      'const a = "\\u{202e}b";\nconst c = 1;',
      "false",
    ]);
    assert.equal(await page.locator(".tool-line").textContent(), "a\\u{200b}.ts");
    await question.getByRole("button", { name: "Allow once" }).click();
    await question.getByText("May bash run this?").waitFor();
    assert.equal(
      await question.getByRole("region", { name: "What would run" }).textContent(),
      "echo \\u{202e}x\nls",
    );
    assert.equal(await page.locator(".tool-line").last().textContent(), "echo \\u{202e}x ls");
    assert.deepEqual(tab.faults, []);
  });

  it("copies code and nothing else", async () => {
    await using server = await pageGateway([answer]);
    await using tab = await openTab(server.gateway.url, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await write(tab.page, "Which command?");
    await tab.page.getByRole("button", { name: "Copy code" }).click();
    await tab.page.getByRole("button", { name: "Copied code" }).waitFor();
    assert.equal(await tab.page.evaluate(() => navigator.clipboard.readText()), "ls -la");
  });

  it("stops with its button and with Escape, keeps the partial answer, and offers a retry", async () => {
    await using server = await pageGateway([endless, endless, "Now whole."], slow);
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await write(page, "Tell me");
    await said(page, "Sentence 2 of").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await said(page, "Stopped.", { exact: true }).waitFor();
    assert.match((await page.locator(".markdown").textContent()) ?? "", /^Sentence 0 of/);
    await page.getByRole("button", { name: "Ask again" }).click();
    await said(page, "Sentence 2 of").nth(1).waitFor();
    // In the search field, Escape clears the field.
    const search = page.getByLabel("Search conversations");
    await search.fill("rope");
    await search.press("Escape");
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>("[type=search]")?.value === "",
    );
    await said(page, "Sentence 9 of").last().waitFor();
    assert.equal(await said(page, "Stopped.", { exact: true }).count(), 1);
    await page.keyboard.press("Escape");
    await said(page, "Stopped.", { exact: true }).nth(1).waitFor();
    assert.equal(server.model.calls.length, 2);
  });

  it("is drawn also when no animation frame comes, as in a background tab", async () => {
    await using server = await pageGateway(["Here."]);
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await page.getByText("What shall we do?").waitFor();
    await page.evaluate(() => void (globalThis.requestAnimationFrame = () => 0));
    await write(page, "Are you there?");
    await page.waitForFunction(() => document.title === "Are you there? – Bowline", undefined, {
      polling: 100,
    });
  });

  // Requirements: X24
  it("steers a running run or queues a message; waiting messages are shown and can be withdrawn", async () => {
    const ran: string[] = [];
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await using server = await pageGateway([call("sleep"), "Steered.", "Queued."], {
      tools: () => [bash(ran, held)],
      rules: { judge: () => ({ action: "allow" }), add: async () => {} },
    });
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await write(page, "Begin");
    await page.locator(".card.is-running").waitFor();
    await write(page, "Look at the tests, too");
    const waiting = page.getByRole("list", { name: "Messages that wait" });
    await waiting.getByText("Added at the next step").waitFor();
    await page.getByRole("radio", { name: /^Queue/ }).check();
    await write(page, "Afterwards this");
    await write(page, "And never this");
    await waiting.getByText("Queued").nth(1).waitFor();
    await waiting
      .locator("li", { hasText: "And never this" })
      .getByRole("button", { name: "Do not send" })
      .click();
    await waiting.getByText("And never this").waitFor({ state: "detached" });
    release();
    await said(page, "Queued.", { exact: true }).waitFor();
    assert.equal(await waiting.count(), 0);
    const asked = await page.locator(".asked p").allTextContents();
    assert.deepEqual(asked, ["Begin", "Look at the tests, too", "Afterwards this"]);
    const told = server.model.calls.map(
      ({ context }) => context.messages.filter(({ role }) => role === "user").length,
    );
    assert.deepEqual(told, [1, 2, 3]);
  });

  it("keeps a steering message for the next message when the run is stopped", async () => {
    const ran: string[] = [];
    await using server = await pageGateway([call("sleep"), "Heard both."], {
      tools: () => [bash(ran, new Promise(() => {}))],
      rules: { judge: () => ({ action: "allow" }), add: async () => {} },
    });
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await write(page, "Begin");
    await page.locator(".card.is-running").waitFor();
    await write(page, "Not like this");
    const waiting = page.getByRole("list", { name: "Messages that wait" });
    await waiting.getByText("Added at the next step").waitFor();
    await page.keyboard.press("Escape");
    await said(page, "Stopped.", { exact: true }).waitFor();
    await waiting.getByText("Added with the next message").waitFor();
    await write(page, "But so");
    await said(page, "Heard both.").waitFor();
    assert.equal(await waiting.count(), 0);
    assert.deepEqual(await page.locator(".asked p").allTextContents(), [
      "Begin",
      "Not like this",
      "But so",
    ]);
  });

  it("shows what failed, and retries on request", async () => {
    const failure = {
      error: new BowlineError("overloaded", "The model has too much to do.", { retryable: false }),
    };
    await using server = await pageGateway([failure, "Now it works."]);
    await using tab = await openTab(server.gateway.url);
    await write(tab.page, "Hello");
    const ending = tab.page.locator(".ending.is-failure");
    await ending.getByText("The model has too much to do.").waitFor();
    await ending.getByRole("button", { name: "Try again" }).click();
    await said(tab.page, "Now it works.").waitFor();
    assert.equal(await tab.page.getByRole("button", { name: "Try again" }).count(), 0);
  });

  it("is the same after a reload in the middle of an answer, and shows the rest", async () => {
    await using server = await pageGateway([long], slow);
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await write(page, "Tell me");
    await said(page, "Sentence 2 of").waitFor();
    await page.getByLabel("Message", { exact: true }).fill("a draft");
    await page.reload();
    await said(page, "Sentence 2 of").waitFor();
    assert.equal(await page.getByLabel("Message", { exact: true }).inputValue(), "a draft");
    assert.ok(server.model.calls.length === 1);
    await page.locator(".run-foot").waitFor();
    assert.equal((await page.locator(".markdown").textContent())?.trim(), long);
    await page.reload();
    await page.locator(".run-foot").waitFor();
    assert.equal((await page.locator(".markdown").textContent())?.trim(), long);
    assert.deepEqual(await page.locator(".asked p").allTextContents(), ["Tell me"]);
    assert.doesNotMatch(page.url(), /token/);
  });

  it("is the same in two tabs", async () => {
    const ran: string[] = [];
    await using server = await pageGateway([call("ls"), answer, "From the other tab."], {
      tools: () => [bash(ran)],
    });
    await using one = await openTab(server.gateway.url);
    await write(one.page, "What is here?");
    await one.page.locator(".question").waitFor();
    const session = new URL(one.page.url()).hash.slice(1);
    await using two = await openTab(server.gateway.url, {
      hash: `token=the-token-of-this-test&${session}`,
    });
    await two.page.getByRole("button", { name: "Allow once" }).click();
    const texts = [one, two].map(async ({ page }) => {
      await said(page, "There are two files.").waitFor();
      await page.locator(".run-foot").waitFor();
      assert.equal(await page.locator(".question").count(), 0);
      return page.locator(".run").allTextContents();
    });
    const [first, second] = await Promise.all(texts);
    assert.deepEqual(first, second);
    await write(two.page, "And now?");
    await said(one.page, "From the other tab.").waitFor();
    assert.deepEqual(await one.page.locator(".asked p").allTextContents(), [
      "What is here?",
      "And now?",
    ]);
    assert.deepEqual(ran, ["ls"]);
  });

  it("scrolls with a growing answer unless the reader scrolled up", async () => {
    const paragraphs = Array.from({ length: 80 }, (_, index) => `Paragraph ${index}.`).join("\n\n");
    await using server = await pageGateway([paragraphs], { pace: { delayMs: 6, deltaLength: 10 } });
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await write(page, "Tell me");
    await said(page, "Paragraph 30.").waitFor();
    const left = (): Promise<number> =>
      page
        .locator(".scroller")
        .evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight);
    const isAtEnd = async (): Promise<void> => {
      for (let tries = 500; tries > 0 && (await left()) >= 60; tries--)
        await page.waitForTimeout(20);
      assert.ok((await left()) < 60);
    };
    await isAtEnd();
    await page.locator(".scroller").hover();
    await page.mouse.wheel(0, -600);
    await page.getByRole("button", { name: "To the end" }).waitFor();
    await said(page, "Paragraph 60.").waitFor();
    assert.ok((await left()) > 300);
    await page.getByRole("button", { name: "To the end" }).click();
    await isAtEnd();
    await page.locator(".run-foot").waitFor();
    await isAtEnd();
  });
});
