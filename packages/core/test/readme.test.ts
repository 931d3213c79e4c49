/** Both READMEs quote examples/01-tool.ts, which runs here against a real loopback server. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { it } from "node:test";
import { chatText, loopback, streamed } from "../../../test/support/loopback.ts";

const root = join(import.meta.dirname, "../../..");

for (const file of ["README.md", "packages/core/README.md"]) {
  it(`${file} quotes examples/01-tool.ts`, async () => {
    const readme = await readFile(join(root, file), "utf8");
    assert.equal(
      /```ts\n(.*?)```/s.exec(readme)?.[1],
      await readFile(join(root, "examples/01-tool.ts"), "utf8"),
    );
  });
}

it("examples/01-tool.ts calls its tool and prints the answer", async () => {
  const call = {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name: "get_weather", arguments: '{"city":"Oslo"}' },
  };
  await using server = await loopback(
    streamed(
      { choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: "tool_calls" }] },
      "[DONE]",
    ),
    chatText("Yes, it rains."),
  );
  const { code, output } = await run("examples/01-tool.ts", server.baseUrl);
  assert.equal(code, 0, output);
  assert.match(output, /^get_weather: \d+ ms\ndone Yes, it rains. \{/);
  const second = JSON.parse(server.requests[1]?.body ?? "{}") as {
    messages: { role: string; content: string }[];
  };
  assert.equal(second.messages.at(-1)?.content, "Oslo: 9 °C, rain");
  assert.equal(server.requests[0]?.headers.authorization, "Bearer sk-test");
});

/** Runs an example with the test's server in place of api.openai.com. */
function run(example: string, baseUrl: string): Promise<{ code: number | null; output: string }> {
  const redirect = `const real = fetch; globalThis.fetch = (url, init) => real(String(url).replace("https://api.openai.com/v1", "${baseUrl}"), init);`;
  const preload = `data:text/javascript,${encodeURIComponent(redirect)}`;
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      ["--conditions=@bowline/source", "--import", preload, example],
      {
        cwd: root,
        env: { ...process.env, OPENAI_API_KEY: "sk-test" },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.on("close", (code) => resolve({ code, output }));
  });
}
