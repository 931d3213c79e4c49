// An agent that is killed between two tools of a parallel batch. Another process resumes it:
// nothing is lost, and nothing is done twice.
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool, messageText, type AgentTool, type Context } from "@bowline/core";
import {
  attachSession,
  createSession,
  openSession,
  resumeSession,
  type Entry,
  type SessionMessage,
} from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";

const isChild = process.argv[2] !== undefined;
const folder = process.argv[2] ?? (await mkdtemp(join(tmpdir(), "sessions-")));
const store = createJsonlStore(folder);

const parameters = { type: "object", properties: {} } as const;
let charged = (): void => {};
const isCharged = new Promise<void>((resolve) => (charged = resolve));
const tools: AgentTool[] = [
  defineTool({
    name: "charge_card",
    description: "Takes the money",
    parameters,
    async execute() {
      say("runs charge_card");
      return "Charged 40 EUR.";
    },
  }),
  defineTool({
    name: "send_mail",
    description: "Sends the receipt",
    parameters,
    async execute() {
      say("runs send_mail");
      await isCharged;
      process.kill(process.pid, "SIGKILL"); // just now
      return "";
    },
  }),
  defineTool({
    name: "count_stock",
    description: "Counts what is left",
    parameters,
    replay: "safe", // it only reads
    async execute() {
      if (isChild) await new Promise(() => {}); // takes too long to be finished before
      say("runs count_stock");
      return "7 left.";
    },
  }),
];

// Its answer depends on the request, as with any model.
const answer = ({ messages }: Context) => {
  if (messages.at(-1)?.role === "user")
    return { content: tools.map(({ name }) => scriptedToolCall(name, {}, name)) };
  return "Charged, and 7 are left. Whether the receipt went out is not known: please look before it is sent again.";
};
const { model, streamFn } = createScriptedModel([answer, answer]);
const agent = new Agent({ model, tools, streamFn, createId: () => "run1" });
agent.subscribe((event) => {
  if (event.type === "tool_execution_end" && event.toolName === "charge_card") charged();
});

if (isChild) {
  await attachSession(agent, await createSession(store, { id: "order" }));
  await agent.prompt("Sell one.");
}

say("-- the first process");
const { signal, stdout } = spawnSync(process.execPath, [
  ...process.execArgv,
  import.meta.filename,
  folder,
]);
process.stdout.write(stdout);
say(`-- it was ended by ${signal}; the log says`);
const before = await openSession(store, "order", { readOnly: true });
for await (const entry of before.entries()) say(entryText(entry as Entry));
say("-- the second process");
const { session, result } = await resumeSession(store, "order", agent);
say(`-- ${result?.reason}; the transcript`);
for (const message of await session.allMessages()) say(messageLine(message));
await session.close();
await rm(folder, { recursive: true });

function say(line: string): void {
  console.log(line);
}

function entryText(entry: Entry): string {
  if (entry.type === "message") return `message      ${messageLine(entry.message)}`;
  return "idempotencyKey" in entry
    ? `${entry.type.padEnd(12)} ${entry.idempotencyKey}`
    : entry.type;
}

function messageLine(message: SessionMessage): string {
  const { role, content } = message as Context["messages"][number];
  const calls =
    typeof content === "string"
      ? []
      : content.flatMap((part) => (part.type === "toolCall" ? part.name : []));
  return `${role}: ${messageText({ content }) || `calls ${calls.join(", ")}`}`;
}

/* Prints:
-- the first process
runs charge_card
runs send_mail
-- it was ended by SIGKILL; the log says
run_start
message      user: Sell one.
message      assistant: calls charge_card, send_mail, count_stock
tool_intent  run1:1:charge_card
tool_intent  run1:1:send_mail
tool_intent  run1:1:count_stock
tool_result  run1:1:charge_card
-- the second process
runs count_stock
-- done; the transcript
user: Sell one.
assistant: calls charge_card, send_mail, count_stock
toolResult: Charged 40 EUR.
toolResult: The process ended while send_mail ran. It is not known whether the call took effect, and it was not run again. Its idempotency key is run1:1:send_mail.
toolResult: 7 left.
assistant: Charged, and 7 are left. Whether the receipt went out is not known: please look before it is sent again.
*/
