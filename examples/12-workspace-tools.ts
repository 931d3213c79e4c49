// The command's tools in your own agent: it reads a file, repairs and runs it, and cannot read
// files outside the folder.
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, messageText } from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { createTools, describeCall, needsApproval } from "bowline/tools";

const root = await realpath(await mkdtemp(join(tmpdir(), "workspace-")));
await writeFile(join(root, "sum.mjs"), "const sum = (a, b) => a - b;\nconsole.log(sum(2, 3));\n");

// The examples need no key: this script does what a model would do.
const script = createScriptedModel([
  { content: [scriptedToolCall("read", { path: "sum.mjs" })] },
  { content: [scriptedToolCall("edit", { path: "sum.mjs", oldText: "a - b", newText: "a + b" })] },
  { content: [scriptedToolCall("bash", { command: "node sum.mjs" })] },
  { content: [scriptedToolCall("read", { path: "/etc/passwd" })] },
  { content: [scriptedToolCall("bash", { command: "rm -rf .." })] },
  "It subtracted. Now it adds, and prints 5.",
]);

const agent = new Agent({
  model: script.model,
  tools: createTools({ root, limits: { commandMs: 10_000 } }),
  streamFn: script.streamFn,
  // bash is not confined to the folder, so its calls need approval. Here a list approves them;
  // `requireApproval` asks a person.
  beforeToolCall: async ({ toolCall: { name }, args }) => {
    const { command } = args as { command?: string };
    const isAllowed = !needsApproval(name) || name === "edit" || command === "node sum.mjs";
    console.log(`${isAllowed ? "yes" : "no "} ${describeCall(name, args)}`);
    return isAllowed ? undefined : { block: true, reason: "Denied: only the sum may be run." };
  },
});
agent.subscribe((event) => {
  if (event.type !== "tool_execution_end") return;
  const text = messageText({ content: event.result.content ?? [] });
  console.log(text.trimEnd().replaceAll(root, "<root>").replaceAll(/^/gm, "    | "));
});

const run = await agent.prompt("The sum is wrong. Mend it.");
console.log(run.reason, run.text);
await rm(root, { recursive: true });

/* Prints:
yes read sum.mjs
    | const sum = (a, b) => a - b;
    | console.log(sum(2, 3));
yes edit sum.mjs: "a - b" -> "a + b"
    | Edited sum.mjs: 1 replacement (first at line 1)
yes bash: node sum.mjs
    | 5
yes read /etc/passwd
    | Error: /etc/passwd is outside the working directory <root>
no  bash: rm -rf ..
    | Denied: only the sum may be run.
done It subtracted. Now it adds, and prints 5.
*/
