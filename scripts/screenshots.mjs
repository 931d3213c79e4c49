// node --conditions=@bowline/source scripts/screenshots.mjs: the pictures of docs/page.md, from the
// real page before a real gateway whose model follows a script.
import { join } from "node:path";
import { defineTool } from "@bowline/core";
import { createMemoryStore, createSession } from "@bowline/core/session";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { chromium } from "playwright-core";
import { startGateway } from "../packages/bowline/src/gateway/server/server.ts";
import { createPage } from "../packages/bowline/src/page/node/page.ts";
import { findChromium } from "../runtime-tests/chromium.mjs";

const folder = join(import.meta.dirname, "../docs/images");
const HOUR = 3_600_000;
const token = "for-the-pictures";

const usage = (input, output) => ({
  input,
  output,
  cost: {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    total: (3 * input + 15 * output) / 1e6,
  },
});

const answer = `The test fails because \`joinPath\` writes the separator itself. On Windows the snapshot then has \`/\` where the code
under test has \`\\\`.

I changed one line:

\`\`\`ts
export function joinPath(folder: string, name: string): string {
  return path.join(folder, name);
}
\`\`\`

| System  | Before | Now |
| ------- | ------ | --- |
| Linux   | passes | passes |
| macOS   | passes | passes |
| Windows | **fails** | passes |

Two other places build paths by hand, \`cache.ts\` and \`lock.ts\`. Shall I mend those as well?`;

const script = [
  {
    content: [
      {
        type: "thinking",
        thinking: "The failure names a path. I should find where paths are put together.",
      },
      { type: "text", text: "Let me see where the path comes from." },
      scriptedToolCall("grep", { pattern: "joinPath", path: "src" }, "1"),
      scriptedToolCall("read", { path: "src/join-path.ts" }, "2"),
    ],
    usage: usage(4210, 118),
  },
  {
    content: [
      scriptedToolCall("edit", { path: "src/join-path.ts", find: "folder + '/' + name" }, "3"),
    ],
    usage: usage(5034, 96),
  },
  { content: [{ type: "text", text: answer }], usage: usage(5310, 214) },
  {
    content: [
      { type: "text", text: "First I look at what the tests say as things stand." },
      scriptedToolCall("bash", { command: "npm test -- --grep paths" }, "4"),
    ],
    usage: usage(5702, 61),
  },
  { content: [{ type: "text", text: "All 48 pass." }], usage: usage(5900, 12) },
];

const outputs = {
  grep: "src/join-path.ts:3:export function joinPath(folder: string, name: string): string {\nsrc/upload.ts:41:  const target = joinPath(folder, name);",
  read: "import path from 'node:path';\n\nexport function joinPath(folder, name) {\n  return folder + '/' + name;\n}",
  edit: "src/join-path.ts: 1 line changed.",
  bash: "48 passed (2.1 s)",
};

const tools = Object.entries(outputs).map(([name, output]) =>
  defineTool({ name, description: name, parameters: { type: "object" }, execute: () => output }),
);

const store = createMemoryStore();
for (const [index, title] of [
  "Release notes for 0.4",
  "Why is the bundle bigger?",
  "Rename the billing module",
  "Flaky login test",
  "A faster way to parse dates",
  "Draft an answer to issue 214",
].entries()) {
  const clock = {
    now: () => Date.now() - (index + 1) * (index < 2 ? 2 : 15) * HOUR,
    setTimer: () => () => {},
  };
  const session = await createSession(store, { clock });
  await session.rename(title);
  await session.close();
}

const model = createScriptedModel(script, { deltaLength: 40 });
const allowed = new Set(["grep", "read", "edit"]);
const named = { ...model.model, provider: "anthropic", id: "claude-opus-4-6" };
const gateway = await startGateway({
  tokens: { full: token },
  store,
  agents: () => [{ id: "assistant", model: "anthropic/claude-opus-4-6", description: "Helps." }],
  backendFor: () => ({ model: named, streamFn: model.streamFn, isPractice: false }),
  systemPrompt: () => "",
  tools: () => tools,
  rules: {
    judge: ({ tool }) => ({ action: allowed.has(tool) ? "allow" : "ask" }),
    add: async () => {},
  },
  workspacePath: "/home/ada/upload",
  port: 0,
  page: createPage(),
});
const browser = await chromium.launch({
  executablePath: findChromium(),
  args: ["--no-sandbox", "--disable-gpu"],
});
const session = crypto.randomUUID();

async function tab(options) {
  const context = await browser.newContext({
    viewport: { width: 1180, height: 800 },
    locale: "en-GB",
    ...options,
  });
  const page = await context.newPage();
  await page.goto(`${gateway.url}/#token=${token}&session=${session}`);
  await page.locator(".session").nth(5).waitFor({ state: "attached" });
  return page;
}

async function say(page, text) {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

/** Removes the focus first, so that no cursor blinks. */
async function shoot(page, name) {
  await page.waitForTimeout(300);
  await page.evaluate(() => document.activeElement?.blur());
  await page.screenshot({
    path: join(folder, `page-${name}.png`),
    animations: "disabled",
    caret: "hide",
  });
}

const light = await tab({ colorScheme: "light" });
await say(light, "The upload test fails on Windows only. Can you find out why?");
await light.locator(".run-foot").waitFor();
await shoot(light, "light");

const dark = await tab({ colorScheme: "dark" });
await dark.locator(".run-foot").waitFor();
await dark.locator(".card summary").nth(1).click();
await dark.locator(".scroller").evaluate((one) => one.scrollTo(0, 0));
await shoot(dark, "dark");

const phone = await tab({
  colorScheme: "light",
  viewport: { width: 390, height: 800 },
  deviceScaleFactor: 1.5,
  hasTouch: true,
  isMobile: true,
});
await phone.locator(".run-foot").waitFor();
await shoot(phone, "phone");

await say(light, "Yes, and run the tests of paths.");
await light.locator(".question").waitFor();
await say(light, "Only the unit tests, please");
await light.locator(".waiting li").waitFor();
await shoot(light, "approval");

await browser.close();
await gateway.close();
