/**
 * The page in a real browser, with a real gateway and a scripted model. Records every request and
 * every error.
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
import {
  token,
  type gatewayWith as startGateway,
  type TestGateway,
  type TestOptions,
} from "../gateway/gateway.ts";
import type { ScriptedStep } from "@bowline/core/testing";

/** The module that starts gateways. `cluster/kit/use-clusters.ts` names one that starts clusters. */
const gateways = process.env.BOWLINE_TEST_GATEWAYS ?? "../gateway/gateway.ts";
const { gatewayWith, missing = false } = (await import(gateways)) as {
  readonly gatewayWith: typeof startGateway;
  /** Why no gateway can be started, or false. */
  readonly missing?: string | false;
};
/** Whether the gateways are those of a cluster. */
export const isCluster = process.env.BOWLINE_TEST_GATEWAYS !== undefined;
const servePage = createPage();
// A JavaScript file without types.
const runtimes = new URL("../../../../runtime-tests/chromium.mjs", import.meta.url).href;
const { findChromium } = (await import(runtimes)) as {
  readonly findChromium: () => string | undefined;
};
const executablePath = findChromium();

/** The `skip` option of `describe`: false, or why there is no browser or no gateway. */
export const skip: string | false =
  executablePath === undefined
    ? "there is no Chromium: install it, or name it in CHROMIUM_PATH"
    : missing;

export interface Tab extends AsyncDisposable {
  readonly page: Page;
  /** The URLs of all requests and sockets so far. */
  readonly requests: readonly string[];
  /** Page errors, console errors and violations of the content security policy. */
  readonly faults: readonly string[];
}

export interface TabOptions extends BrowserContextOptions {
  /** The part after `#`. Default: the token. */
  readonly hash?: string;
}

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
let launched: Promise<Browser> | undefined;

/**
 * Returns a function that opens a tab in a new browser context. All tests of a process share one
 * browser, which is closed after them.
 */
export function useBrowser(): (url: string, options?: TabOptions) => Promise<Tab> {
  // Launches immediately, so that the browser starts together with the first gateway.
  if (skip === false && launched === undefined) {
    launched = launch();
    launched.catch(() => {}); // opening a tab reports the error
    after(async () => (await launched)?.close());
  }
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

/** Finds a text in the conversation, and not in the live region. */
export function said(page: Page, text: string, options?: { readonly exact: boolean }): Locator {
  return page.locator(".scroller").getByText(text, options);
}

/** Asserts that every request went to this server. */
export function assertStayed(requests: readonly string[], url: string): void {
  const { host } = new URL(url);
  assert.ok(requests.length > 0);
  assert.deepEqual(
    requests.filter((request) => new URL(request).host !== host),
    [],
  );
}
