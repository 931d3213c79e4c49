/** Shows the session's agent and model. Users who may write can change them in a dialog. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { html } from "htm/preact";
import type { PageState } from "../state/page-state.ts";
import { agentOf } from "../state/who-answers.ts";
import { modelText } from "../text/wording.ts";
import { ChooseDialog } from "./choose-dialog.ts";
import { icon } from "./icon.ts";

interface WhoAnswersProps {
  readonly state: PageState;
  readonly isReadOnly: boolean;
}

export function WhoAnswers({ state, isReadOnly }: WhoAnswersProps): VNode {
  const [isOpen, open] = useState(false);
  const { agents, agentId, session, connection } = state;
  const agent = agentOf(state);
  const model = session?.model ?? (agent?.answeredBy || undefined);
  const name = agent?.id ?? session?.agentId ?? agentId;
  const asked = model === undefined ? undefined : modelText(model);
  const isNamed = agents.length > 1 || agent === undefined || asked === undefined;
  const shown = (isNamed ? [name, asked] : [asked]).flatMap((one) => one ?? []);
  const text = shown.join(" · ");
  const hasChoice = agents.length > 1 || agent?.isModelFixed !== true;
  if (isReadOnly || agent === undefined || !hasChoice)
    return html`<p class="top-agent">${text}</p>`;
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
    ${isOpen && html`<${ChooseDialog} state=${state} agent=${agent} model=${model} onClose=${() => open(false)} />`}`;
}
