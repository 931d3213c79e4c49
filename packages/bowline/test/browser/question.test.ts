/** The question whether a call may run, for a user who does not look closely. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defineTool, type AgentTool } from "@bowline/core";
import { scriptedToolCall } from "@bowline/core/testing";
import { pageGateway, said, skip, useBrowser, write } from "./browser.ts";

const openTab = useBrowser();

function bash(ran: string[]): AgentTool {
  return defineTool({
    name: "bash",
    description: "Runs a command.",
    parameters: {
      type: "object",
      properties: { command: { type: "string" } },
      required: ["command"],
    } as const,
    executionMode: "sequential",
    execute({ command }) {
      ran.push(command);
      return "done";
    },
  });
}

describe("an approval question in the page", { skip }, () => {
  it("is not answered by the second click of a double click on the previous question", async () => {
    const ran: string[] = [];
    const calls = ["ls", "rm -rf /"].map((command) =>
      scriptedToolCall("bash", { command }, command),
    );
    // Long enough that both questions appear at the same place, at the end.
    const content = [{ type: "text" as const, text: "A line.\n\n".repeat(60) }, ...calls];
    await using server = await pageGateway([{ content }, "All is done."], {
      tools: () => [bash(ran)],
    });
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await write(page, "Do it");
    await page.getByRole("group", { name: "May this run? bash: ls" }).waitFor();
    const allow = page.getByRole("button", { name: "Allow once" });
    await allow.scrollIntoViewIfNeeded();
    const { x = 0, y = 0 } = (await allow.boundingBox()) ?? {};
    const click = async (clickCount: number): Promise<void> => {
      await page.mouse.move(x + 20, y + 10);
      await page.mouse.down({ clickCount });
      await page.mouse.up({ clickCount });
    };
    await click(1);
    await page.getByRole("group", { name: "May this run? bash: rm -rf /" }).waitFor();
    // The second question is at the place of the first, where a double click would hit it.
    await page.waitForFunction(
      ([left, top]) =>
        document.elementFromPoint(left ?? 0, top ?? 0)?.closest(".allow-once") !== null,
      [x + 20, y + 10],
    );
    await click(2);
    assert.equal(await allow.isEnabled(), true);
    await page.getByRole("button", { name: "Deny" }).click();
    await said(page, "All is done.").waitFor();
    assert.deepEqual(ran, ["ls"]);
    assert.deepEqual(tab.faults, []);
  });

  it("says how long a text is that does not fit in its box", async () => {
    const calls = [
      scriptedToolCall("bash", { command: `echo fine${"\n".repeat(300)}rm -rf /` }, "long"),
      scriptedToolCall("bash", { command: "ls" }, "short"),
    ];
    await using server = await pageGateway([{ content: calls }, "All is done."], {
      tools: () => [bash([])],
    });
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    const note = page
      .locator(".question")
      .getByText("This is long (301 lines, 317 characters). Scroll in the box");
    await write(page, "Do it");
    await note.waitFor();
    await page.getByRole("button", { name: "Deny" }).click();
    await page.getByRole("group", { name: "May this run? bash: ls" }).waitFor();
    assert.equal(await page.locator(".question").getByText("This is long").count(), 0);
  });

  it("is announced in other conversations, with a link", async () => {
    const calls = { content: [scriptedToolCall("bash", { command: "ls" }, "a")] };
    await using server = await pageGateway([calls, "All is done."], { tools: () => [bash([])] });
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await write(page, "Do it");
    await page.locator(".question").waitFor();
    await page.getByRole("button", { name: "New", exact: true }).click();
    const banner = page.locator(".banner").filter({ hasText: "“Do it” asks: bash: ls" });
    await banner.getByRole("link", { name: "Look" }).click();
    await page.getByRole("button", { name: "Allow once" }).click();
    await said(page, "All is done.").waitFor();
    assert.deepEqual(tab.faults, []);
  });

  it("appears also after an answer that is too deeply nested to be rendered", async () => {
    const calls = { content: [scriptedToolCall("bash", { command: "ls" }, "a")] };
    await using server = await pageGateway([">".repeat(20_000), calls, "All is done."], {
      tools: () => [bash([])],
    });
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await write(page, "First");
    await page.locator(".run-foot").waitFor();
    await write(page, "Then");
    await page.getByRole("button", { name: "Allow once" }).click();
    await said(page, "All is done.").waitFor();
    await page.reload();
    await said(page, "All is done.").waitFor();
    assert.deepEqual(tab.faults, []);
  });
});
