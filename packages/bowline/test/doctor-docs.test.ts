/**
 * Compares the two outputs of `bowline doctor` in docs/cli.md with the real ones, except ports and
 * times. Run this test with BOWLINE_WRITE_REPORTS=1 to update them.
 */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { it } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import { bowline } from "./command.ts";
import {
  changeCalls,
  chatServer,
  eventStream,
  wholeCalls,
  withFinish,
  type Json,
  type Oddities,
} from "./doctor-servers.ts";

const page = join(import.meta.dirname, "../../../docs/cli.md");
const marked = /(<!-- doctor -->\n)([^]*?)(<!-- \/doctor -->)/;

/** Behaves like a proxy in front of a local model: strict about fields, loose about tool calls. */
const proxy: Oddities = {
  models: { status: 200, body: { object: "list", data: [{ id: "local-1" }] } },
  refuse: ({ stream_options: asked }) =>
    asked === undefined
      ? undefined
      : {
          status: 422,
          body: {
            detail: [{ loc: ["body", "stream_options"], msg: "stream_options: extra_forbidden" }],
          },
        },
  chunks: (chunks) =>
    changeCalls(wholeCalls(chunks), ({ function: fn }) => {
      const { name, arguments: args } = fn as Json;
      return { function: { name, arguments: JSON.stringify(args) } };
    }).map((chunk) => withFinish(chunk, "stop")),
  write: eventStream("data:", "\r\n"),
};

/** A third-party server with a model that follows instructions. */
async function startMock(): Promise<LLMock> {
  const mock = new LLMock({ port: 0 });
  const usage = { prompt_tokens: 9, completion_tokens: 3 };
  const weather = (...cities: string[]) =>
    cities.map((city) => ({ name: "weather", arguments: { city } }));
  mock.on(
    { userMessage: "and in Rome", hasToolResult: false },
    { toolCalls: weather("Oslo", "Rome"), usage },
  );
  mock.on(
    { userMessage: "weather in Oslo", hasToolResult: false },
    { toolCalls: weather("Oslo"), usage },
  );
  mock.on({ userMessage: "weather in Oslo", hasToolResult: true }, { content: "Snow.", usage });
  mock.on({ userMessage: /./ }, { content: "1 2 3", usage });
  await mock.start();
  return mock;
}

/**
 * Returns the command's output with the page's port and time, and without notices about a slow
 * machine.
 */
async function printed(
  summary: string,
  baseUrl: string,
  port: number,
  ...args: string[]
): Promise<string> {
  const { code, stdout, stderr } = await bowline(["doctor", baseUrl, ...args]);
  assert.deepEqual([code, stderr], [0, ""]);
  const shown = `http://127.0.0.1:${port}/v1`;
  const text = stdout
    .replaceAll(baseUrl, shown)
    .replace(/^ +differs +all events come at once, after a wait.*\n/m, "")
    .replace(/, \d+\.\d s\n$/, ", 0.3 s\n")
    .trimEnd();
  const block = `\`\`\`text\n${["$ bowline doctor", shown, ...args].join(" ")}\n${text}\n\`\`\``;
  return `<details><summary>${summary}</summary>\n\n${block}\n\n</details>\n`;
}

it("docs/cli.md shows what bowline doctor prints for a mock server and for an unusual proxy", async () => {
  const mock = await startMock();
  await using local = await chatServer(proxy);
  try {
    const first = await printed(
      "A mock server, aimock: works as it is",
      `${mock.url}/v1`,
      4010,
      "--model",
      "gpt-x",
    );
    const second = await printed(
      "A proxy that deviates from the protocol: works, with one setting",
      local.baseUrl,
      8080,
    );
    const text = await readFile(page, "utf8");
    const [, open = "", inside = "", close = ""] = marked.exec(text) ?? [];
    assert.notEqual(open, "", "docs/cli.md has the markers");
    const wanted = `\n${first}\n${second}\n`;
    if (process.env.BOWLINE_WRITE_REPORTS === "1")
      await writeFile(
        page,
        text.replace(marked, () => `${open}${wanted}${close}`),
      );
    else assert.equal(inside, wanted);
  } finally {
    await mock.stop();
  }
});
