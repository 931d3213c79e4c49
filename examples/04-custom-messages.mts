// Messages of your own in the transcript: declared once, carried everywhere, and shown to the model
// as you say.
import { Agent, type AgentMessage, type Message } from "@bowline/core";
import { createScriptedModel } from "@bowline/core/testing";

declare module "@bowline/core" {
  interface CustomAgentMessages {
    /** A line for the screen; the model never sees it. */
    notice: { role: "notice"; text: string };
    /** What the person has open; the model sees it as something the user said. */
    openFile: { role: "openFile"; path: string; timestamp: number };
  }
}

function convertToLlm(messages: AgentMessage[]): Message[] {
  return messages.flatMap((message): Message[] => {
    if (message.role === "notice") return [];
    if (message.role !== "openFile") return [message];
    return [
      { role: "user", content: `I have ${message.path} open.`, timestamp: message.timestamp },
    ];
  });
}

const script = createScriptedModel(["A bowline, I see."]);
const agent = new Agent({
  model: script.model,
  streamFn: script.streamFn,
  convertToLlm,
});

agent.state.messages.push({ role: "notice", text: "Connected." });
await agent.prompt([
  { role: "openFile", path: "knots/bowline.md", timestamp: Date.now() },
  { role: "user", content: "What is this?", timestamp: Date.now() },
]);

console.log("kept:", agent.state.messages.map(({ role }) => role).join(", "));
console.log(
  "sent:",
  script.calls[0]?.context.messages.map(({ content }) => content),
);

/* Prints:
kept: notice, openFile, user, assistant
sent: [ 'I have knots/bowline.md open.', 'What is this?' ]
*/
