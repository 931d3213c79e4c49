/**
 * The page in a real browser, before a real gateway with a scripted model. Every request and every
 * refusal is recorded.
 */
import assert from "node:assert/strict";
import { after } from "node:test";
import {
  chromium,
  type Browser,
  type BrowserContextOptions,
  type Locator,
  type Page,
} from "playwright-core";
import { createPage } from "../../src/page/node/page.ts";
import { gatewayWith, token, type TestGateway, type TestOptions } from "../gateway/gateway.ts";
import type { ScriptedStep } from "@bowline/core/testing";

const servePage = createPage();
// It is no TypeScript, and has no types.
const runtimes = new URL("../../../../runtime-tests/chromium.mjs", import.meta.url).href;
const { findChromium } = (await import(runtimes)) as {
  readonly findChromium: () => string | undefined;
};
const executablePath = findChromium();

/** For `describe`: what says that there is no browser. */
export const skip: string | false =
  executablePath === undefined
    ? "there is no Chromium: install it, or name it in CHROMIUM_PATH"
    : false;

export interface Tab extends AsyncDisposable {
  readonly page: Page;
  /** Addresses of all requests and sockets so far. */
  readonly requests: readonly string[];
  /** What went wrong: errors, and what the policy refused. */
  readonly faults: readonly string[];
}

export interface TabOptions extends BrowserContextOptions {
  /** Behind the `#`. Default: the token's. */
  readonly hash?: string;
}

/**
 * Opens a tab, each of a context of its own. One browser serves all tests of the file, and is
 * closed after them.
 */
export function useBrowser(): (url: string, options?: TabOptions) => Promise<Tab> {
  const launch = (): Promise<Browser> =>
    chromium.launch({
      ...(executablePath !== undefined && { executablePath }),
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
      ],
    });
  // At once: it starts while the first gateway does.
  const launched = skip === false ? launch() : undefined;
  launched?.catch(() => {}); // who opens a tab is told
  after(async () => (await launched)?.close());
  return async (url, { hash = `token=${token}`, ...options } = {}) => {
    const browser = await (launched ?? launch());
    const context = await browser.newContext({
      viewport: { width: 1180, height: 780 },
      ...options,
    });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    const { requests, faults } = watch(page);
    await page.goto(`${url}/#${hash}`);
    return { page, requests, faults, [Symbol.asyncDispose]: () => context.close() };
  };
}

export function watch(page: Page): { requests: string[]; faults: string[] } {
  const [requests, faults]: string[][] = [[], []];
  page.on("request", (request) => requests?.push(request.url()));
  page.on("websocket", (socket) => requests?.push(socket.url()));
  page.on("pageerror", (error) => faults?.push(error.stack ?? error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults?.push(message.text());
  });
  return { requests: requests as string[], faults: faults as string[] };
}

/** A gateway that serves the page. */
export function pageGateway(
  script: readonly ScriptedStep[],
  options: TestOptions = {},
): Promise<TestGateway> {
  return gatewayWith(script, { page: servePage, ...options });
}

export async function write(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

/** In the conversation, not in what is announced. */
export function said(page: Page, text: string, options?: { readonly exact: boolean }): Locator {
  return page.locator(".scroller").getByText(text, options);
}

/** Of this server only. */
export function assertStayed(requests: readonly string[], url: string): void {
  const { host } = new URL(url);
  assert.ok(requests.length > 0);
  assert.deepEqual(
    requests.filter((request) => new URL(request).host !== host),
    [],
  );
}
