import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { defineTool } from "@bowline/core";
import { scriptedToolCall, type ScriptedStep } from "@bowline/core/testing";
import { Marked } from "marked";
import type { Page } from "playwright-core";
import { pageGateway, skip, useBrowser, write, type Tab } from "./browser.ts";
import type { createSanitizer as create } from "../../src/page/text/sanitize.ts";
import { payloads } from "./payloads.ts";

const openTab = useBrowser();

/** A server that must get no requests, and those it got. */
async function evilServer(): Promise<{ url: string; hits: string[] } & AsyncDisposable> {
  const hits: string[] = [];
  const server = createServer((request, response) => {
    hits.push(request.url ?? "");
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    hits,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const canary = (page: Page): Promise<unknown> =>
  page.evaluate(() => (globalThis as { canary?: number }).canary ?? 0);

/** Triggers every element that could have an event handler. */
async function provoke(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const one of document.querySelectorAll<HTMLElement>("main *, .sidebar *")) {
      for (const type of [
        "mouseover",
        "pointerenter",
        "focus",
        "load",
        "error",
        "toggle",
        "animationstart",
      ])
        one.dispatchEvent(new Event(type, { bubbles: false }));
      one.focus({ preventScroll: true });
    }
  });
  // Waits for requests to arrive: three frames and a network round trip.
  await page.evaluate(
    () =>
      new Promise((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 50))),
      ),
  );
}

const allowed = {
  tags: /^(?:a|blockquote|br|button|code|dd|del|details|div|dl|dt|em|h[1-6]|hr|i|ins|kbd|li|mark|ol|p|path|pre|s|span|strong|sub|sup|svg|table|tbody|td|th|thead|tr|u|ul|b)$/,
  attributes:
    /^(?:class|href|title|target|rel|start|align|tabindex|role|type|aria-label|aria-hidden|viewBox|d)$/,
};

/** Returns every element and attribute in answers that is not on the allow list. */
async function strangers(page: Page): Promise<string[]> {
  const found = await page.locator(".markdown *").evaluateAll((all) =>
    all.map((one) => ({
      tag: one.localName,
      attributes: one.getAttributeNames(),
      html: one.outerHTML.slice(0, 150),
    })),
  );
  assert.ok(found.length > 100, "the answers are there");
  return found
    .filter(
      ({ tag, attributes }) =>
        !allowed.tags.test(tag) || attributes.some((name) => !allowed.attributes.test(name)),
    )
    .map(({ html }) => html);
}

async function badLinks(page: Page): Promise<string[]> {
  const links = await page
    .locator(".markdown a")
    .evaluateAll((all) =>
      (all as HTMLAnchorElement[]).map(({ href, rel, target }) => ({ href, rel, target })),
    );
  return links
    .filter(
      ({ href, rel, target }) =>
        !/^(?:https?:\/\/|mailto:)/.test(href) ||
        rel !== "noopener noreferrer" ||
        target !== "_blank",
    )
    .map((link) => JSON.stringify(link));
}

async function assertHarmless(
  { page, faults, requests }: Tab,
  own: string,
  hits: readonly string[],
): Promise<void> {
  await provoke(page);
  assert.equal(await canary(page), 0, "something ran");
  assert.deepEqual(hits, [], "something was sent");
  const elsewhere = requests.filter((request) => new URL(request).host !== new URL(own).host);
  assert.deepEqual(elsewhere, [], "something was asked for");
  assert.deepEqual(faults, [], "something was tried, and the policy had to stop it");
}

describe("hostile text", { skip }, () => {
  it("in answers neither runs nor sends requests: whole, in pieces, while streaming or after a reload", async () => {
    await using evil = await evilServer();
    const texts = payloads(evil.url);
    assert.ok(texts.length >= 40);
    const script = texts.map((text): ScriptedStep => ({
      content: [{ type: "text", text: `Before.\n\n${text}\n\nAfter.` }],
    }));
    await using server = await pageGateway([...script, texts.join("\n\n")], {
      pace: { deltaLength: 9 },
    });
    const client = await server.client();
    await using tab = await openTab(server.gateway.url, {
      hash: "token=the-token-of-this-test&session=s",
    });
    for (const text of [...texts, "all"]) {
      const { runId } = await client.call("chat.send", { sessionKey: "s", message: text });
      await client.end(runId);
    }
    await tab.page.locator(".run-foot").nth(texts.length).waitFor();
    const check = async (): Promise<void> => {
      await assertHarmless(tab, server.gateway.url, evil.hits);
      assert.deepEqual(await strangers(tab.page), []);
      assert.deepEqual(await badLinks(tab.page), []);
      assert.equal(await tab.page.getByLabel("Message", { exact: true }).isVisible(), true);
    };
    await check();
    await tab.page.reload();
    await tab.page.locator(".run-foot").nth(45).waitFor();
    await check();
  });

  it("in thinking, tool names, arguments, results, questions and titles is shown as text", async () => {
    await using evil = await evilServer();
    const texts = payloads(evil.url);
    const bash = defineTool({
      name: "bash",
      description: "Runs.",
      parameters: { type: "object" },
      execute: () => texts.join("\n"),
    });
    const content = [
      { type: "thinking" as const, thinking: texts.join("\n") },
      ...texts
        .slice(0, 12)
        .map((text, index) => scriptedToolCall(text, { [text]: text }, `call_${index}`)),
      scriptedToolCall("bash", { command: texts.join("\n") }, "asked"),
    ];
    await using server = await pageGateway([{ content }, "Done."], { tools: () => [bash] });
    const client = await server.client();
    for (const [index, text] of texts.entries())
      await client.call("sessions.create", { sessionKey: `${index}`, title: text.slice(0, 200) });
    await using tab = await openTab(server.gateway.url, {
      hash: "token=the-token-of-this-test&session=s",
    });
    const { page } = tab;
    await client.call("chat.send", { sessionKey: "s", message: texts.join("\n") });
    await page.locator(".question").waitFor();
    for (const shown of [40, 80]) {
      await page
        .locator(".session")
        .nth(shown - 1)
        .waitFor();
      await page.getByRole("button", { name: "Show more" }).click();
    }
    await page
      .locator(".session")
      .nth(texts.length - 1)
      .waitFor();
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.locator(".run-foot").waitFor();
    await page.locator(".thinking summary").click();
    for (const card of await page.locator(".card:not(:has(.call)) summary").all())
      await card.click();
    for (const more of await page.getByRole("button", { name: /^Show all/ }).all())
      await more.click();
    await assertHarmless(tab, server.gateway.url, evil.hits);
    for (const place of [
      ".thought",
      ".asked p",
      ".session-title",
      ".tool-name",
      ".tool-line",
      ".call pre",
      "h1",
    ])
      assert.equal(await page.locator(`${place} *`).count(), 0, `${place} has markup`);
    assert.ok((await page.locator(".thought").textContent())?.includes(texts[0] as string));
  });

  it("as HTML, which the markdown reader never produces, is made harmless by the sanitizer alone", async () => {
    await using evil = await evilServer();
    await using server = await pageGateway([]);
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await page.getByText("What shall we do?").waitFor();
    const filler = "<p>words</p>".repeat(100);
    const texts = payloads(evil.url).flatMap((text) => [
      text,
      new Marked().parse(text, { async: false }),
    ]);
    await page.evaluate(
      async ({ all, address }) => {
        const { createSanitizer } = (await import(address)) as { createSanitizer: typeof create };
        const sanitize = createSanitizer(window, location.origin);
        const place = document.createElement("div");
        place.className = "markdown";
        document.querySelector("main")?.append(place);
        for (const html of all) place.append(sanitize(html));
      },
      { all: [filler, ...texts, texts.join("")], address: "/assets/page/text/sanitize.ts" },
    );
    await provoke(page);
    assert.equal(await canary(page), 0);
    assert.deepEqual(evil.hits, []);
    assert.deepEqual(await strangers(page), []);
    assert.deepEqual(await badLinks(page), []);
  });

  it("that bypasses the sanitizer is stopped by the content security policy", async () => {
    await using evil = await evilServer();
    await using server = await pageGateway([]);
    await using tab = await openTab(server.gateway.url);
    await tab.page.getByText("What shall we do?").waitFor();
    const wanted = [
      "base-uri",
      "connect-src",
      "form-action",
      "frame-src",
      "img-src",
      "media-src",
      "style-src-elem",
    ];
    const given = { url: evil.url, wanted };
    const outcome = await tab.page.evaluate(async ({ url, wanted: directives }) => {
      const broken = new Set<string>();
      document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) =>
        broken.add(effectiveDirective),
      );
      const add = (tag: string, own: object): Element => {
        const element = Object.assign(document.createElement(tag), own);
        document.body.append(element);
        return element;
      };
      const refused: string[] = [];
      const attempt = (name: string, act: () => unknown): void => {
        try {
          act();
        } catch {
          refused.push(name);
        }
      };
      attempt(
        "innerHTML",
        () => ((document.body.lastElementChild as Element).innerHTML = "<img src=x>"),
      );
      attempt("script text", () => add("script", { textContent: "globalThis.canary = 1" }));
      attempt("socket", () => new WebSocket(url.replace("http", "ws")));
      add("img", { src: `${url}/img` });
      add("iframe", { src: `${url}/frame` });
      add("link", { rel: "stylesheet", href: `${url}/style` });
      add("video", { src: `${url}/video` });
      add("base", { href: url });
      attempt("object", () => add("object", { data: `${url}/object` }));
      attempt("handler", () => add("div", {}).setAttribute("onclick", "globalThis.canary = 1"));
      (add("form", { action: `${url}/form`, method: "post" }) as HTMLFormElement).submit();
      await fetch(`${url}/fetch`).catch(() => {});
      // The browser reports each violation at a different time.
      for (let left = 500; left > 0 && !directives.every((one) => broken.has(one)); left--)
        await new Promise((resolve) => setTimeout(resolve, 20));
      return { broken: [...broken].toSorted(), refused };
    }, given);
    for (const directive of wanted)
      assert.ok(
        outcome.broken.includes(directive),
        `${directive} is not among ${outcome.broken.join(", ")}`,
      );
    assert.deepEqual(
      outcome.refused.filter((name) => name !== "socket"),
      ["innerHTML", "script text", "object", "handler"],
    );
    assert.equal(await canary(tab.page), 0);
    assert.deepEqual(evil.hits, []);
  });

  it("cannot link back to this server with another token", async () => {
    await using server = await pageGateway([]);
    const own = `${server.gateway.url}/#token=stolen`;
    server.model.push(`[back](${own}) <${own}> and [on](https://example.com/)`);
    await using tab = await openTab(server.gateway.url);
    await write(tab.page, "Where to?");
    await tab.page.locator(".run-foot").waitFor();
    const links = await tab.page
      .locator(".markdown a")
      .evaluateAll((all) => (all as HTMLAnchorElement[]).map(({ href }) => href));
    assert.deepEqual(links, ["https://example.com/"]);
  });

  it("runs and sends requests in a page without these guards, so the other tests would notice", async () => {
    await using evil = await evilServer();
    await using server = await pageGateway([]);
    await using tab = await openTab(server.gateway.url, { hash: "" });
    const bare = await tab.page.context().newPage();
    const texts = payloads(evil.url).filter(
      (text) => !/<plaintext|<frameset|http-equiv|<base/.test(text),
    );
    const rendered = texts.map((text) => new Marked().parse(text, { async: false }));
    let [ran, sent] = [0, 0];
    for (const html of rendered) {
      await bare.setContent(`<!doctype html><main>${html}</main>`, { waitUntil: "load" });
      ran += (await canary(bare)) === 0 ? 0 : 1;
      sent = evil.hits.length;
    }
    assert.ok(ran >= 15, `${ran} ran`);
    assert.ok(sent >= 10, `${sent} were sent`);
  });
});
