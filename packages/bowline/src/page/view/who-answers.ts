/**
 * The agent that answers here and by which model; who may write chooses others in a dialog, in
 * which a refusal is shown.
 */
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "htm/preact";
import type { AgentInfo } from "../../gateway/protocol/protocol.ts";
import type { PageState } from "../state/page-state.ts";
import { agentOf, knownModels } from "../state/who-answers.ts";
import { modelText } from "../text/wording.ts";
import { useTools } from "./context.ts";
import { icon } from "./icon.ts";

interface WhoAnswersProps {
  readonly state: PageState;
  readonly isReadOnly: boolean;
}

export function WhoAnswers({ state, isReadOnly }: WhoAnswersProps): VNode {
  const [isOpen, open] = useState(false);
  const { agents, agentId, session, connection } = state;
  const agent = agentOf(state);
  const model = session?.model ?? agent?.answeredBy;
  const name = agent?.id ?? session?.agentId ?? agentId;
  const asked = model === undefined ? undefined : modelText(model);
  const shown = (agents.length > 1 || agent === undefined ? [name, asked] : [asked]).flatMap(
    (one) => one ?? [],
  );
  const text = shown.join(" · ");
  if (isReadOnly || agent === undefined) return html`<p class="top-agent">${text}</p>`;
  return html`<button
      type="button"
      class="quiet top-agent"
      aria-haspopup="dialog"
      title=${`${text}: choose another`}
      disabled=${connection !== "open"}
      onClick=${() => open(true)}
    >
      <span class="offscreen">Answers here: </span
      ><span class="top-agent-name">${text}</span>${icon("chevron")}
    </button>
    ${isOpen && html`<${Choose} state=${state} agent=${agent} model=${model} onClose=${() => open(false)} />`}`;
}

interface ChooseProps {
  readonly state: PageState;
  readonly agent: AgentInfo;
  readonly model: string | undefined;
  readonly onClose: () => void;
}

function Choose({ state, agent, model = "", onClose }: ChooseProps): VNode {
  const { controller } = useTools();
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  // As it was when this was opened: what others choose meanwhile is not undone by who only looks.
  const [before] = useState({ agentId: agent.id, model });
  const [agentId, setAgentId] = useState(before.agentId);
  const [written, write] = useState(before.model);
  const [problem, setProblem] = useState<string>();
  const [isAsking, setAsking] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  /** The browser gives the focus back only from a dialog that is closed. */
  const leave = (): void => {
    dialog.current?.close();
    onClose();
  };
  const chosen = state.agents.find(({ id }) => id === agentId) ?? agent;
  const pick = (id: string): void => {
    setAgentId(id);
    write(state.agents.find((one) => one.id === id)?.answeredBy ?? "");
  };
  const submit = async (): Promise<void> => {
    const wanted = written.trim();
    const isOwn = wanted === "" || wanted === chosen.answeredBy;
    if (agentId === before.agentId && wanted === before.model) return leave();
    setAsking(true);
    setProblem(undefined);
    try {
      // An agent that is chosen answers with its own model, also when it is the same agent.
      await controller.choose({
        ...((isOwn || agentId !== before.agentId) && { agentId }),
        ...(!isOwn && { model: wanted }),
      });
      leave();
    } catch (error) {
      setAsking(false);
      setProblem((error as Error).message);
      field.current?.focus();
    }
  };
  return html`<dialog
    ref=${dialog}
    class="confirm choose"
    aria-labelledby="choose-title"
    onCancel=${(event: Event) => {
      event.preventDefault();
      leave();
    }}
  >
    <form
      onSubmit=${(event: Event) => {
        event.preventDefault();
        if (!isAsking) void submit();
      }}
    >
      <h2 id="choose-title">Who answers here</h2>
      ${
        state.agents.length > 1 &&
        html`<label for="choose-agent">Agent</label>
          <select
            id="choose-agent"
            onChange=${({ currentTarget }: { currentTarget: HTMLSelectElement }) => pick(currentTarget.value)}
          >
            ${state.agents.map(({ id }) => html`<option key=${id} value=${id} selected=${id === agentId}>${id}</option>`)}
          </select>`
      }
      <label for="choose-model">Model</label>
      <input
        id="choose-model"
        ref=${field}
        list="known-models"
        autocomplete="off"
        autocapitalize="off"
        spellcheck=${false}
        autofocus
        placeholder=${chosen.answeredBy}
        aria-invalid=${problem !== undefined}
        aria-describedby="choose-problem choose-help"
        value=${written}
        onInput=${({ currentTarget }: { currentTarget: HTMLInputElement }) => write(currentTarget.value)}
      />
      <datalist id="known-models">
        ${knownModels(state).map((one) => html`<option key=${one} value=${one}></option>`)}
      </datalist>
      <div id="choose-problem" role="alert">
        ${problem !== undefined && html`<p class="problem">${problem}</p>`}
      </div>
      <p id="choose-help">
        Written as <code>provider/model</code>; empty, the agent’s own. It is asked from the next
        step on, by a run that goes on too.
      </p>
      <div class="choices">
        <button type="button" onClick=${leave}>Cancel</button>
        <button type="submit" class="primary" disabled=${isAsking}>
          ${isAsking ? "Asking…" : "Use it"}
        </button>
      </div>
    </form>
  </dialog>`;
}
