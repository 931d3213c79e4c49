// node batch.ts prompts.txt: one answer a line. Run it again after a crash: it does what is left.
import { readFile } from "node:fs/promises";
import { Agent, getModel } from "@bowline/core";
import { resumeSession } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";

const store = createJsonlStore("./batch");
const prompts = (await readFile(process.argv[2] ?? "prompts.txt", "utf8")).trim().split("\n");
const model = getModel("openai", "gpt-5-mini", { baseUrl: process.env.MODEL_URL });

async function answer(prompt: string, index: number): Promise<void> {
  const agent = new Agent({ model });
  const { session, result } = await resumeSession(store, `line-${index}`, agent, { create: true });
  const isDone = agent.state.messages.at(-1)?.role === "assistant";
  const run = result ?? (isDone ? undefined : await agent.prompt(prompt));
  await session.close();
  console.log(`${index + 1} ${run ? run.text || run.reason : "done before"}`);
}

const waiting = prompts.entries();
await Promise.all(
  Array.from({ length: 4 }, async () => {
    for (const [index, prompt] of waiting) await answer(prompt, index);
  }),
);
