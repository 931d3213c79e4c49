/** Texts that a program added to a message are not shown as the person's words. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSession } from "@bowline/core/session";
import { createPage } from "../../src/page/node/page.ts";
import { token } from "../gateway/gateway.ts";
import { madeHouse } from "../gateway/made-house.ts";
import { steeringAgents } from "../gateway/steering-agents.ts";
import { isCluster, pageGateway, skip, useBrowser, write } from "./browser.ts";

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
    await using server = await pageGateway([]);
    const session = await createSession(server.store, { id: "s" });
    const message = { role: "user", content, timestamp: 1 } as const;
    await session.append({ type: "title", title: "Sums" });
    await session.append({ type: "message", message });
    await session.close();
    await using tab = await openTab(server.gateway.url, { hash: `token=${token}&session=s` });
    const { page } = tab;
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
    await list.getByText("src/sum.ts").click();
    await page.getByText("export const sum = (a, b) => a - b;").waitFor();
    assert.deepEqual(tab.faults, []);
  });

  it(
    "shows the labels while the run is live, and the texts after a reload",
    { skip: isCluster },
    async () => {
      const going = Promise.withResolvers<string>();
      const agents = steeringAgents(content, () => going.promise);
      await using house = await madeHouse(agents, { page: createPage() });
      await using tab = await openTab(house.gateway.url);
      const { page } = tab;
      await write(page, "Look around");
      const list = page.getByRole("list", { name: "Added to the message" });
      await list.getByText("the file src/sum.ts (1 line, 36 bytes)").waitFor();
      await page.getByRole("button", { name: "Stop" }).waitFor();
      assert.equal(await list.locator("details").count(), 0);
      const said = page.locator(".asked p");
      assert.deepEqual(await said.allInnerTexts(), ["Look around", "Mend the sum in @src/sum.ts"]);
      going.resolve("Looked.");
      await page.getByText("Looked.").first().waitFor();
      await page.reload();
      await list.getByText("src/sum.ts").click();
      await page.getByText("export const sum = (a, b) => a - b;").waitFor();
      assert.deepEqual(await said.allInnerTexts(), ["Look around", "Mend the sum in @src/sum.ts"]);
      assert.deepEqual(tab.faults, []);
    },
  );
});
