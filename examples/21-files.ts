// A PDF in a question and a text file in a tool's result, in a session that keeps the PDF once.
import { Agent, defineTool, getModel, whyNotSent, type FileContent } from "@bowline/core";
import {
  attachSession,
  createMemoryStore,
  createSession,
  sessionToMarkdown,
} from "@bowline/core/session";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";

const chart: FileContent = {
  type: "file",
  data: Buffer.alloc(30_000, "%PDF-1.7 ").toString("base64"), // of a real file: readFileSync(path, "base64")
  mimeType: "application/pdf",
  name: "chart.pdf",
};

const tides = defineTool({
  name: "tides",
  description: "The tides of today",
  parameters: { type: "object", properties: {} },
  execute: () => ({
    content: [
      {
        type: "file",
        data: btoa("high 06:12\nlow 12:24"),
        mimeType: "text/csv",
        name: "tides.csv",
      },
    ],
  }),
});

const { model, streamFn, calls } = createScriptedModel([
  { content: [scriptedToolCall("tides", {})] },
  "Enter before noon.",
]);
const agent = new Agent({ model, tools: [tides], streamFn });
await using session = await createSession(createMemoryStore(), { id: "trip" });
await attachSession(agent, session);

const { text } = await agent.prompt("When can we enter?", { files: [chart] });
console.log(text);
console.log(calls[1]?.context.messages.length, "messages were sent");

// What a wire cannot send is known before anything is sent.
const song: FileContent = { type: "file", data: "SUQz", mimeType: "audio/mpeg", name: "horn.mp3" };
for (const vendor of ["google", "anthropic"] as const)
  console.log(vendor, whyNotSent(getModel(vendor, "a-model"), song) ?? "takes it");

console.log((await sessionToMarkdown(session)).match(/\*A file.*\*/g));

/* Prints:
Enter before noon.
3 messages were sent
google takes it
anthropic anthropic-messages cannot send the file horn.mp3 (audio/mpeg). Remove it, or its kind from the model's input.
[
  '*A file (chart.pdf, application/pdf, 30000 bytes)*',
  '*A file (tides.csv, text/csv, 21 bytes)*'
]
*/
