/** What a program added to a message is not shown as the person's words. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore, createSession } from "@bowline/core/session";
import { pageGateway, skip, useBrowser } from "./browser.ts";

const openTab = useBrowser();

const content = [
  { type: "text" as const, text: "Mend the sum in @src/sum.ts" },
  {
    type: "text" as const,
    text: '<file path="src/sum.ts">\nexport const sum = (a, b) => a - b;\n</file>',
    shownAs: "the file src/sum.ts (1 line, 36 bytes)",
    shownFile: "src/sum.ts",
  },
  {
    type: "text" as const,
    text: "[Plan mode is on: only reading tools run.]",
    shownAs: "a note for the model: plan mode is on \u202E",
  },
];

describe("a message that a program added to", { skip }, () => {
  it("shows the person's words, and below them labels that open", async () => {
    const store = createMemoryStore();
    const session = await createSession(store, { id: "s" });
    const message = { role: "user", content, timestamp: 1 } as const;
    await session.append({ type: "title", title: "Sums" });
    await session.append({ type: "message", message });
    await session.close();
    await using server = await pageGateway([], { store });
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await page.getByText("Sums").first().click();
    const asked = page.locator(".asked");
    await asked.waitFor();
    assert.equal((await asked.innerText()).replace(/^You\s+/, ""), "Mend the sum in @src/sum.ts");
    const list = page.getByRole("list", { name: "Added to the message" });
    const labels = (await list.locator("li").allInnerTexts()).map((label) => label.trim());
    assert.deepEqual(labels, [
      "the file src/sum.ts (1 line, 36 bytes)",
      "a note for the model: plan mode is on \\u{202e}",
    ]);
    assert.equal(await page.getByText("a - b").count(), 0);
    const picture = process.env.BOWLINE_PICTURES;
    await list.getByText("src/sum.ts").click();
    await page.getByText("export const sum = (a, b) => a - b;").waitFor();
    if (picture !== undefined) await page.screenshot({ path: `${picture}/added.png` });
    assert.deepEqual(tab.faults, []);
  });
});
