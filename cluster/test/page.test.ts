/**
 * The page in Chromium against a cluster: a conversation as in one process, and a cluster whose
 * processes are killed. There are two gateways behind a balancer.
 */
// oxlint-disable import/no-unassigned-import -- these files define their tests when they are imported
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import "../kit/use-clusters.ts";
import "../../packages/bowline/test/browser/conversation.test.ts";
import { said, skip, useBrowser, write } from "../../packages/bowline/test/browser/browser.ts";
import { startOutside, type Outside, type Turn } from "../kit/outside.ts";
import { startSystem, type System } from "../kit/system.ts";

const openTab = useBrowser();

describe("the page of a cluster whose processes are killed", { skip }, () => {
  let outside: Outside;
  let system: System;
  before(async () => {
    outside = await startOutside();
    system = await startSystem({
      agentModule: new URL("../kit/page-agents.ts", import.meta.url).pathname,
      restateNodes: 1,
      natsServers: 1,
      workers: 2,
      env: { OUTSIDE: outside.url },
    });
  });
  after(async () => {
    await system[Symbol.asyncDispose]();
    await outside[Symbol.asyncDispose]();
  });

  const say = (turns: readonly Turn[]): string => {
    const name = randomUUID();
    return outside.script(
      name,
      turns.map(({ calls, ...turn }) => ({
        ...turn,
        ...(calls && {
          calls: calls.map((call) => ({ ...call, args: { script: name, ...call.args } })),
        }),
      })),
    );
  };
  const open = (session: string) =>
    openTab(system.addresses.gateway, { hash: `token=${system.token}&session=${session}` });

  it("moves to the other gateway, and shows the answers of both once", async () => {
    await using tab = await open("moves");
    const { page } = tab;
    const answers = ["First.", "Second.", "Third.", "Fourth."];
    const work = { name: "work", args: { ms: 1500 } };
    await write(
      page,
      say(answers.map((text, at) => (at < 3 ? { text, calls: [work] } : { text }))),
    );
    for (const [at, gateway] of system.gateways.entries()) {
      await said(page, answers[at] ?? "", { exact: true }).waitFor();
      await gateway.kill();
      await gateway.start();
    }
    await page.locator(".run-foot").waitFor();
    assert.deepEqual(await page.locator(".markdown p").allTextContents(), answers);
    assert.equal(await page.locator(".card").count(), 3);
    await page.reload();
    await page.locator(".run-foot").waitFor();
    assert.deepEqual(await page.locator(".markdown p").allTextContents(), answers);
    assert.equal(await page.locator(".asked").count(), 1);
  });

  it("goes on when the worker dies, and asks again for an approval that waits", async () => {
    await using tab = await open("dies");
    const { page } = tab;
    await write(
      page,
      say([
        { text: "I ask.", calls: [{ name: "asks" }] },
        { text: "Answered.", ms: 1500 },
      ]),
    );
    const allow = page.getByRole("button", { name: "Allow once" });
    await allow.waitFor();
    for (const worker of system.workers) {
      await worker.kill();
      await worker.start();
    }
    await page.reload();
    await allow.click();
    await page.locator(".card.is-done, .card .tool-state", { hasText: "Done" }).first().waitFor();
    for (const worker of system.workers) {
      await worker.kill();
      await worker.start();
    }
    await said(page, "Answered.", { exact: true }).waitFor();
    await page.locator(".run-foot").waitFor();
    assert.deepEqual(await page.locator(".markdown p").allTextContents(), ["I ask.", "Answered."]);
    assert.equal(await page.locator(".card").count(), 1);
  });
});
