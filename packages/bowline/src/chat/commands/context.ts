import { estimateTokens } from "@bowline/core";
import { oneLine } from "../../terminal.ts";
import { bytesText, tokensText } from "../text.ts";
import type { SlashCommand } from "./command.ts";

export const context: SlashCommand = {
  name: "context",
  help: "what each request contains: instruction files in their order, tools, messages, sizes",
  run(_, chat) {
    const { project } = chat.world;
    const { state } = chat.runtime.agent;
    const size = (text: string): string =>
      `${bytesText(Buffer.byteLength(text))}, about ${tokensText(estimateTokens(text))} tokens`;
    const files = project.instructions.map(
      ({ path, text }, index) => `  ${index + 1}. ${oneLine(path, 300)}  ${size(text)}`,
    );
    const tools = state.tools.map(({ name, description, parameters }) =>
      JSON.stringify({ name, description, parameters }),
    );
    const sources = project.settings.sources.map(
      ({ path, isUsed, why }) =>
        `  ${oneLine(path, 300)}  ${isUsed ? "used" : `not used: ${why ?? "unknown"}`}`,
    );
    const messages = state.messages.map((message) => estimateTokens(message));
    chat.notice(
      [
        `System prompt: ${size(state.systemPrompt)}`,
        files.length === 0 ? "Instruction files: none" : "Instruction files, in their order:",
        ...files,
        `Tools: ${state.tools.length}, ${size(tools.join("\n"))}`,
        `Messages: ${messages.length}, about ${tokensText(messages.reduce((sum, one) => sum + one, 0))} tokens`,
        `Settings files:${sources.length === 0 ? " none" : ""}`,
        ...sources,
        `Folder: ${project.trust}`,
      ].join("\n"),
    );
  },
};
