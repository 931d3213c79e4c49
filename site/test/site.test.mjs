// The built site in Chromium: `npm run docs -- --test`.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { chromium } from "playwright-core";
import { findChromium } from "../../runtime-tests/chromium.mjs";
import { foreignLoads } from "../check-hosts.mjs";
import { serveSite } from "../server.mjs";

const folder = join(import.meta.dirname, "../dist");
const executablePath = findChromium();

describe("the built site", { skip: executablePath === undefined && "there is no Chromium" }, () => {
  let site;
  let browser;
  before(async () => {
    assert.ok(existsSync(join(folder, "index.html")), "Build the site first: npm run docs");
    site = await serveSite(folder);
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  });
  after(async () => {
    await browser?.close();
    site?.close();
  });

  async function open(path, options = {}) {
    const page = await browser.newPage(options);
    const foreign = [];
    const faults = [];
    page.on("request", (request) => {
      // The page's icons are in the style itself.
      if (!request.url().startsWith(site.url) && !request.url().startsWith("data:"))
        foreign.push(request.url());
    });
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(`${site.url}${path}`, { waitUntil: "networkidle" });
    return { page, foreign, faults };
  }

  it("finds a page by a word and opens it at the section", async () => {
    const { page, foreign, faults } = await open("start.html");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("searchbox").fill("hookTimeoutMs");
    const result = page.locator("#localsearch-list a").filter({ hasText: "AgentOptions" }).first();
    await result.click();
    await page.waitForURL(/reference\/agent\.html#agentoptions$/);
    await page.locator("h2#agentoptions").waitFor();
    assert.deepEqual([foreign, faults], [[], []]);
  });

  it("ranks the guide and the reference before the project's own pages", async () => {
    const { page } = await open("start.html");
    await page.getByRole("button", { name: "Search" }).click();
    for (const word of ["retry", "timeout", "approval"]) {
      await page.getByRole("searchbox").fill(word);
      await page.locator("#localsearch-list mark").first().waitFor();
      const [first] = await page
        .locator("#localsearch-list a")
        .evaluateAll((all) => all.map((one) => one.pathname));
      assert.doesNotMatch(first ?? "", /\/project\/|changelog/, word);
    }
  });

  it("goes through the navigation to every page of the guide without a fault", async () => {
    const { page, foreign, faults } = await open("start.html");
    const links = await page
      .locator("aside.VPSidebar a")
      .evaluateAll((all) => all.map((one) => one.href));
    assert.ok(links.length > 30);
    for (const link of new Set(links)) {
      const response = await page.goto(link);
      assert.equal(response?.status() ?? 200, 200, link);
      const { hash } = new URL(link);
      if (hash !== "") assert.equal(await page.locator(hash).count(), 1, link);
      assert.equal(await page.locator("main h1").count(), 1, link);
    }
    assert.deepEqual([foreign, faults], [[], []]);
  });

  it("fits a phone of 390 pixels: code and tables scroll in their own box", async () => {
    for (const path of ["", "start.html", "limits.html", "reference/agent.html", "gateway.html"]) {
      const { page } = await open(path, { viewport: { width: 390, height: 844 } });
      const wide = await page.evaluate("document.documentElement.scrollWidth");
      assert.ok(wide <= 390, `${path} is ${wide} pixels wide`);
      await page.close();
    }
  });

  it("loads nothing from another host", () => {
    assert.deepEqual(foreignLoads(folder), []);
  });
});
