/** The dialog for choosing an agent or model. It shows why a choice was refused. */
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { html } from "htm/preact";
import type { AgentInfo } from "../../gateway/protocol/protocol.ts";
import type { PageState } from "../state/page-state.ts";
import { knownModels } from "../state/who-answers.ts";
import { useChoice, type Choice } from "./use-choice.ts";

interface ChooseDialogProps {
  readonly state: PageState;
  readonly agent: AgentInfo;
  readonly model: string | undefined;
  readonly onClose: () => void;
}

export function ChooseDialog({ state, agent, model = "", onClose }: ChooseDialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  /** The browser restores the focus only when the dialog is closed. */
  const leave = (): void => {
    dialog.current?.close();
    onClose();
  };
  const { agents } = state;
  const onRefused = (): void => field.current?.focus();
  const choice = useChoice({ agents, agent, model, onDone: leave, onRefused });
  const { problem, isAsking } = choice;
  useEffect(() => dialog.current?.showModal(), []);
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
        if (!isAsking) void choice.submit();
      }}
    >
      <h2 id="choose-title">Who answers here</h2>
      ${agents.length > 1 && html`<${AgentField} agents=${agents} choice=${choice} />`}
      ${!choice.isModelFixed && html`<${ModelField} field=${field} choice=${choice} known=${knownModels(state)} />`}
      <div id="choose-problem" role="alert">
        ${problem !== undefined && html`<p class="problem">${problem}</p>`}
      </div>
      <p id="choose-help">
        ${
          choice.isModelFixed
            ? "The agent has its own model. It answers from the next message on."
            : html`Written as <code>provider/model</code>. Empty means the agent’s own model. It is
                used from the next step on, also by the current run.`
        }
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

interface AgentFieldProps {
  readonly agents: readonly AgentInfo[];
  readonly choice: Choice;
}

function AgentField({ agents, choice }: AgentFieldProps): VNode {
  return html`<label for="choose-agent">Agent</label>
    <select
      id="choose-agent"
      onChange=${({ currentTarget }: { currentTarget: HTMLSelectElement }) => choice.pickAgent(currentTarget.value)}
    >
      ${agents.map(({ id }) => html`<option key=${id} value=${id} selected=${id === choice.agentId}>${id}</option>`)}
    </select>`;
}

interface ModelFieldProps {
  readonly field: { readonly current: HTMLInputElement | null };
  readonly choice: Choice;
  /** Models to suggest. */
  readonly known: readonly string[];
}

function ModelField({ field, choice, known }: ModelFieldProps): VNode {
  return html`<label for="choose-model">Model</label>
    <input
      id="choose-model"
      ref=${field}
      list="known-models"
      autocomplete="off"
      autocapitalize="off"
      spellcheck=${false}
      autofocus
      placeholder=${choice.ownModel}
      aria-invalid=${choice.problem !== undefined}
      aria-describedby="choose-problem choose-help"
      value=${choice.model}
      onInput=${({ currentTarget }: { currentTarget: HTMLInputElement }) => choice.writeModel(currentTarget.value)}
    />
    <datalist id="known-models">
      ${known.map((one) => html`<option key=${one} value=${one}></option>`)}
    </datalist>`;
}
