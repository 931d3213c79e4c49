/** The agent of the page's test with processes that are killed: an answer that takes seconds, and a tool. */
import type { Agent } from "@bowline/core";
import { createScriptedAgent } from "./scripted-agent.ts";

export const agents = (): Agent => createScriptedAgent(process.env.OUTSIDE ?? "");
