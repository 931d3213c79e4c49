// The same program in another library and here. Without an option: fails when docs/coming-from.md does
// not show the programs of this folder. `--write` writes them there. `--run` compiles all with TypeScript
// 5.9 and runs each pair against the same scripted model server: both must give the same. `--run` needs
// `npm ci` in this folder (400 MB).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, relative } from "node:path";
import { keepMade } from "../scripts/made-file.mjs";

const here = import.meta.dirname;
const page = relative(".", join(here, "../docs/coming-from.md"));
const pairs = globSync("*/*.there.ts", { cwd: here })
  .map((file) => file.replace(".there.ts", ""))
  .toSorted();

let text = readFileSync(page, "utf8");
for (const pair of pairs) {
  const marks = new RegExp(`<!-- pair ${pair} -->[^]*?<!-- /pair -->`);
  if (!marks.test(text)) throw new Error(`docs/coming-from.md has no place for ${pair}`);
  const block = (side) =>
    `\`\`\`ts\n${readFileSync(join(here, `${pair}.${side}.ts`), "utf8")}\`\`\``;
  const both = `There:\n\n${block("there")}\n\nHere:\n\n${block("here")}`;
  text = text.replace(marks, () => `<!-- pair ${pair} -->\n\n${both}\n\n<!-- /pair -->`);
}
keepMade(page, text, "node coming-from/run.mjs --write");
if (process.argv.includes("--run")) await runAll();

async function runAll() {
  console.log("compiling with TypeScript 5.9");
  execFileSync(process.execPath, [join(here, "node_modules/typescript/bin/tsc"), "-p", here], {
    stdio: "inherit",
  });
  const server = createServer((...exchange) => void answer(...exchange)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
  for (const pair of pairs) {
    const results = [];
    for (const side of ["there", "here"]) {
      const { main } = await import(`./${pair}.${side}.ts`);
      results.push(await main(baseUrl));
    }
    assert.deepEqual(results[1], results[0], pair);
    console.log(`same  ${pair}: ${JSON.stringify(results[0])}`);
  }
  server.closeAllConnections();
  server.close();
}

/** A model that calls `weather` once after each question about warmth, and then answers. */
async function answer(request, response) {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  const { messages, response_format: format, stream = false } = JSON.parse(body);
  const last = messages.at(-1);
  const asked = messages.filter(({ role }) => role === "user").length;
  const isQuestion = last.role === "user" && JSON.stringify(last.content).includes("warm");
  if (format) send({ content: JSON.stringify({ harbour: "Horten", free: true }) }, "stop");
  else if (isQuestion) {
    const call = { name: "weather", arguments: '{"city":"Oslo"}' };
    send(
      { tool_calls: [{ index: 0, id: `c${asked}`, type: "function", function: call }] },
      "tool_calls",
    );
  } else if (last.role === "tool") send({ content: "9 degrees." }, "stop");
  else send({ content: `${asked} questions.` }, "stop");

  function send(message, finish) {
    const base = { id: crypto.randomUUID(), created: 1, model: "m" };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    if (!stream) {
      const choice = {
        index: 0,
        message: { role: "assistant", content: null, ...message },
        finish_reason: finish,
      };
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({ ...base, object: "chat.completion", choices: [choice], usage }),
      );
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    const chunk = (delta, finish_reason = null) =>
      `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const total = `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices: [], usage })}\n\n`;
    response.end(
      `${chunk({ role: "assistant", ...message })}${chunk({}, finish)}${total}data: [DONE]\n\n`,
    );
  }
}
