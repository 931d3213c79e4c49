/** What sub-agents get from a conversation: a model, a part of the tools, and the same gate. */
import { Agent, streamByProtocol } from "@bowline/core";
import type { SubAgentStart } from "../project/agent-tool.ts";
import { ANSWER_MS, type Approver } from "../record/run-setup.ts";
import type { World } from "./chat.ts";
import type { Conversation } from "./conversation.ts";

export interface SubAgentSource {
  readonly world: World;
  readonly gate: Approver;
  readonly chat: Conversation;
}

/** Returns the function that creates the agent of a definition for one call. */
export function subAgents({
  world,
  gate,
  chat,
}: SubAgentSource): (start: SubAgentStart) => Promise<Agent> {
  return async ({ definition, tools, check }) => {
    const { connection, agent: caller } = chat.runtime;
    const { model, apiKey, fetch } =
      definition.model === undefined
        ? connection
        : await world.connect({ model: definition.model, origin: `from ${definition.path}` });
    const { maxTurns = 50 } = definition;
    return new Agent({
      systemPrompt: world.project.systemPrompt({
        tools: tools.map(({ name }) => name),
        system: definition.systemPrompt,
      }),
      model,
      thinkingLevel: caller.state.thinkingLevel,
      tools: [...tools],
      streamFn: streamByProtocol,
      budget: { maxTurns },
      hookTimeoutMs: 0,
      timeouts: { firstByteMs: ANSWER_MS },
      maxRetries: Infinity,
      maxRetryTimeMs: world.options.retryMs,
      beforeToolCall: async (context, signal) =>
        check(context.toolCall.name, context.args) ?? gate(context, signal),
      ...(apiKey !== undefined && { apiKey }),
      ...(fetch !== undefined && { fetch }),
    });
  };
}
