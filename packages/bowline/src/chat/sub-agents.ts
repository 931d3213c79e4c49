/** What sub-agents get from a conversation: a model, a part of the tools, and the same gate. */
import { Agent, streamByProtocol, type AgentTool } from "@bowline/core";
import type { SubAgentPorts } from "../project/agent-tool.ts";
import { ANSWER_MS, type Approver } from "../record/run-setup.ts";
import type { World } from "./chat.ts";
import type { Conversation } from "./conversation.ts";

export interface SubAgentSource {
  readonly world: World;
  readonly tools: readonly AgentTool[];
  readonly gate: Approver;
  readonly chat: Conversation;
}

export function subAgentPorts({ world, tools, gate, chat }: SubAgentSource): SubAgentPorts {
  return {
    tools,
    async createAgent({ definition, tools: own, check }) {
      const { connection, agent: caller } = chat.runtime;
      const { model, apiKey, fetch } =
        definition.model === undefined
          ? connection
          : await world.connect({ model: definition.model, origin: `from ${definition.path}` });
      const { maxTurns = 50 } = definition;
      return new Agent({
        systemPrompt: definition.systemPrompt,
        model,
        thinkingLevel: caller.state.thinkingLevel,
        tools: [...own],
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
    },
  };
}
