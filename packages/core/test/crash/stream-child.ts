/**
 * A process that is killed while its answer streams: `stream-child.ts <folder> <session> <base
 * URL>`. Starts or resumes the task. Writes a line of JSON for each piece of text that it shows:
 * when, and the length of the answer so far.
 */
import { writeSync } from "node:fs";
import { Agent } from "../../src/agent/index.ts";
import { messageText } from "../../src/llm/message.ts";
import { streamOpenaiChat } from "../../src/providers/openai-chat/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { attachSession, openSession } from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";

const [folder, id = "", baseUrl = ""] = process.argv.slice(2);
if (folder !== undefined) await work(folder); // without a folder it is only compiled

async function work(path: string): Promise<void> {
  const session = await openSession(createJsonlStore(path), id, { create: true });
  const agent = new Agent({
    initialState: { model: { ...getModel("openai", "m"), baseUrl } },
    getApiKey: () => "sk-test",
    streamFn: streamOpenaiChat,
  });
  const { resume } = await attachSession(agent, session, { saveStreamedText: true });
  agent.subscribe((event) => {
    if (event.type !== "message_update") return;
    const { length } = messageText(event.message);
    writeSync(1, `${JSON.stringify({ at: performance.now(), length })}\n`);
  });
  const result = (await resume()) ?? (await agent.prompt(`Task ${id}`));
  writeSync(1, `${JSON.stringify({ ended: result.reason })}\n`);
  await session.close();
}
