/** Runs the four programs in docs/other-shapes.md against a loopback server. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startProgram, type Output } from "../../../test/support/start-program.ts";
import { chatText, loopback, streamed, type Handler } from "../../../test/support/loopback.ts";

const root = join(import.meta.dirname, "../../..");
const page = await readFile(join(root, "docs/other-shapes.md"), "utf8");
/** A non-streaming answer of the Messages API. */
const whole = (content: object[], stop_reason: string): Handler => {
  const about = { id: "m", type: "message", role: "assistant", model: "claude-sonnet-4-5" };
  return (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        ...about,
        content,
        stop_reason,
        usage: { input_tokens: 5, output_tokens: 1 },
      }),
    );
  };
};
const claude = [
  whole(
    [{ type: "tool_use", id: "c1", name: "get_weather", input: { location: "Madrid" } }],
    "tool_use",
  ),
  whole([{ type: "text", text: "Sunny, 20 °C." }], "end_turn"),
];
const call = {
  index: 0,
  id: "c1",
  type: "function",
  function: { name: "get_weather", arguments: '{"location":"Madrid"}' },
};
const chat = [
  streamed(
    { choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: "tool_calls" }] },
    "[DONE]",
  ),
  chatText("Sunny, 20 °C."),
];

/** Two streamed answers of the Messages API. */
const claudeStream = [
  streamedClaude(
    { type: "tool_use", id: "c1", name: "get_weather", input: {} },
    { type: "input_json_delta", partial_json: '{"location":"Madrid"}' },
    "tool_use",
  ),
  streamedClaude(
    { type: "text", text: "" },
    { type: "text_delta", text: "Sunny, 20 °C." },
    "end_turn",
  ),
];
const answers = { gai: claude, karl: chat, codelet: claude, gateway: claudeStream };

const printed = {
  gateway: "Sunny, 20 °C. (10 tokens in)\n3 messages\n",
  gai: "Sunny, 20 °C. (2 iterations)\n",
  karl: "get_weather [ { type: 'text', text: 'Madrid: 20 celsius' } ]\nSunny, 20 °C.\n",
  codelet:
    /^user What's the weather like in Madrid\?\nassistant \[[^]*'toolUse'[^]*Madrid: 20 celsius[^]*'Sunny, 20 °C\.'/,
};

describe("the page about the formats of other libraries", () => {
  for (const shape of ["gai", "karl", "codelet", "gateway"] as const) {
    it(`shows a program for ${shape} with its output`, async () => {
      const file = `packages/compat/test/examples/${shape}.ts`;
      const blocks = [...page.matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code);
      assert.ok(blocks.includes(await readFile(join(root, file), "utf8")), `${file} is not shown`);
      await using server = await loopback(...answers[shape]);
      const { code, stdout, stderr } = await run(file, server.baseUrl);
      assert.equal(code, 0, stderr);
      const expected = printed[shape];
      if (typeof expected === "string") assert.equal(stdout, expected);
      else assert.match(stdout, expected);
      assert.equal(server.requests.length, 2);
    });
  }
});

function streamedClaude(content_block: object, delta: object, stop_reason: string): Handler {
  const about = { id: "m", type: "message", role: "assistant", model: "claude-sonnet-4-5" };
  const usage = { input_tokens: 5, output_tokens: 1 };
  return streamed(
    { type: "message_start", message: { ...about, content: [], usage } },
    { type: "content_block_start", index: 0, content_block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  );
}

/** Runs a program with requests to every host redirected to the test's server. */
function run(file: string, baseUrl: string): Promise<Output> {
  const { origin } = new URL(baseUrl);
  const redirect = `const real = fetch;
globalThis.fetch = (url, init) => real("${origin}" + new URL(url).pathname.replace("/api/v1", "/v1"), init);`;
  const options = [
    "--conditions=@bowline/source",
    "--import",
    `data:text/javascript,${encodeURIComponent(redirect)}`,
  ];
  const env = {
    ...process.env,
    NO_COLOR: "1",
    ANTHROPIC_API_KEY: "sk-test",
    OPENROUTER_API_KEY: "sk-test",
  };
  return startProgram(process.execPath, [...options, file], { cwd: root, env, timeout: 30_000 });
}
