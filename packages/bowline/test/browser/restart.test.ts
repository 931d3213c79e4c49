import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { temporary } from "../command.ts";
import { serveProcess } from "../gateway/processes.ts";
import { said, skip, useBrowser, write } from "./browser.ts";

const openTab = useBrowser();

describe("a server that is killed in the middle of an answer", { skip }, () => {
  it("is reconnected to, and the page then shows the run to its end, once", async () => {
    await using home = await temporary();
    const env = { BOWLINE_HOME: home.path, BOWLINE_TOKEN: "a-token-for-this-test" };
    await using first = await serveProcess(env);
    const port = Number(new URL(first.url).port);
    await using tab = await openTab(first.url, { hash: `token=${first.token}` });
    const { page } = tab;
    await page.locator(".banner").getByText("practice model").waitFor();
    await write(page, "Read the file SOUL.md and count its lines.");
    await page.locator(".card, .markdown").first().waitFor();
    await first.kill("SIGKILL");
    await page.getByText("The connection is lost.").waitFor();
    await page.getByRole("radio", { name: /^Queue/ }).check();
    await write(page, "What is 2+2?");
    await using second = await serveProcess(env, { port });
    await page.getByText("The connection is lost.").waitFor({ state: "detached" });
    await said(page, "lines").last().waitFor();
    await said(page, "4").last().waitFor();
    await page.locator(".run-foot").nth(1).waitFor();
    assert.deepEqual(await page.locator(".asked p").allTextContents(), [
      "Read the file SOUL.md and count its lines.",
      "What is 2+2?",
    ]);
    const shown = await page.locator(".run").allInnerTexts();
    await page.reload();
    await page.locator(".run-foot").nth(1).waitFor();
    assert.deepEqual(
      (await page.locator(".run").allInnerTexts()).map(withoutTimes),
      shown.map(withoutTimes),
    );
    assert.deepEqual(await page.getByText("Interrupted").count(), 0);
    await second.kill("SIGTERM");
  });
});

/** Removes tool durations and notices, which a transcript does not contain. */
function withoutTimes(text: string): string {
  return text
    .replaceAll(/ · [\d.]+ (?:ms|s)/g, "")
    .replaceAll(/.*practice model.*\n?/gi, "")
    .replaceAll(/\s+/g, " ");
}
