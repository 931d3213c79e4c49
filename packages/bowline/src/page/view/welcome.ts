/** The content of an empty session: the agents, and advice about the practice model. */
import type { VNode } from "preact";
import { html } from "htm/preact";
import type { PageState } from "../state/page-state.ts";
import { agentOf } from "../state/who-answers.ts";
import { modelText } from "../text/wording.ts";
import { useTools } from "./context.ts";
import { knot } from "./icon.ts";

interface WelcomeProps {
  readonly state: PageState;
  readonly isReadOnly: boolean;
}

export function Welcome({ state, isReadOnly }: WelcomeProps): VNode {
  const { controller } = useTools();
  const { agents, welcome, session } = state;
  const chosen = agentOf(state);
  const model =
    session?.model ??
    chosen?.answeredBy ??
    (welcome?.model.model ? `${welcome.model.provider}/${welcome.model.model}` : undefined);
  const isPractice = session?.model === undefined && (chosen?.isPractice ?? false);
  return html`<div class="welcome">
    ${knot()}
    <p class="greeting">${isReadOnly ? "No messages yet." : "What shall we do?"}</p>
    ${
      agents.length > 1 && !isReadOnly
        ? html`<fieldset class="agents">
            <legend class="offscreen">Agent</legend>
            ${agents.map(
              ({ id, description, answeredBy }) =>
                html`<label class="agent">
                  <input
                    type="radio"
                    name="agent"
                    value=${id}
                    checked=${id === chosen?.id}
                    onChange=${() => controller.chooseAgent(id)}
                  />
                  <span
                    ><strong>${id}</strong><span>${description}</span
                    ><small>${modelText(answeredBy)}</small></span
                  >
                </label>`,
            )}
          </fieldset>`
        : html`<p class="faint">${model === undefined ? "" : modelText(model)}</p>`
    }
    ${isPractice && !isReadOnly && html`<${Practice} />`}
  </div>`;
}

/** Explains the practice model and how to use a real one. */
function Practice(): VNode {
  const { controller } = useTools();
  const question = "What can you do?";
  return html`<div class="practice">
    <button type="button" onClick=${() => controller.send(question, "send")}>${question}</button>
    <p class="faint">
      It is for trying things out. For a real model put its key into the environment or${" "}
      <code>.env</code>, and restart <code>bowline serve</code>, or name another model in${" "}
      <code>AGENTS.md</code>.
    </p>
  </div>`;
}
