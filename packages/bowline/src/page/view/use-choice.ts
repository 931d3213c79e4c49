/** The chosen agent and model, and the request that applies them. */
import { useState } from "preact/hooks";
import type { AgentInfo } from "../../gateway/protocol/protocol.ts";
import { useTools } from "./context.ts";

interface ChoiceOptions {
  readonly agents: readonly AgentInfo[];
  /** The current agent. */
  readonly agent: AgentInfo;
  readonly model: string;
  /** Called when the choice was accepted or is unchanged. */
  readonly onDone: () => void;
  readonly onRefused: () => void;
}

export interface Choice {
  readonly agentId: string;
  /** The text in the field; empty means the agent's own model. */
  readonly model: string;
  /** The chosen agent's own model. */
  readonly ownModel: string;
  /** True if the agent's model cannot be changed. */
  readonly isModelFixed: boolean;
  readonly pickAgent: (id: string) => void;
  readonly writeModel: (model: string) => void;
  readonly submit: () => Promise<void>;
  readonly isAsking: boolean;
  /** Why the choice was refused. */
  readonly problem: string | undefined;
}

export function useChoice({ agents, agent, model, onDone, onRefused }: ChoiceOptions): Choice {
  const { controller } = useTools();
  // Compare with the state at opening, so that submitting an unchanged form does not undo a change
  // made meanwhile.
  const [before] = useState({ agentId: agent.id, model });
  const [agentId, setAgentId] = useState(before.agentId);
  const [written, writeModel] = useState(before.model);
  const [problem, setProblem] = useState<string>();
  const [isAsking, setAsking] = useState(false);
  const chosen = agents.find(({ id }) => id === agentId) ?? agent;
  const { answeredBy: ownModel, isModelFixed = false } = chosen;
  const pickAgent = (id: string): void => {
    setAgentId(id);
    writeModel(agents.find((one) => one.id === id)?.answeredBy ?? "");
  };
  const submit = async (): Promise<void> => {
    const wanted = written.trim();
    const isOwn = isModelFixed || wanted === "" || wanted === ownModel;
    if (agentId === before.agentId && wanted === before.model) return onDone();
    setAsking(true);
    setProblem(undefined);
    try {
      // Choosing an agent restores the agent's own model, also if it is the same agent.
      await controller.choose({
        ...((isOwn || agentId !== before.agentId) && { agentId }),
        ...(!isOwn && { model: wanted }),
      });
      onDone();
    } catch (error) {
      setAsking(false);
      setProblem((error as Error).message);
      onRefused();
    }
  };
  return {
    agentId,
    model: written,
    ownModel,
    isModelFixed,
    pickAgent,
    writeModel,
    submit,
    isAsking,
    problem,
  };
}
