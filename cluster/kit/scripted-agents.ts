/** The scripted agent of the tests, for processes of their own. `OUTSIDE` is the server that counts. */
import type { Agent } from "@bowline/core";
import { createScriptedAgent } from "./scripted-agent.ts";

export const agents = (): Agent => createScriptedAgent(process.env.OUTSIDE ?? "");
