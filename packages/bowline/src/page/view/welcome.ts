/**
 * What stands in a session without a message: who answers, and, of the practice model, what to do
 * with it.
 */
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
    <p class="greeting">${isReadOnly ? "Nothing was said here yet." : "What shall we do?"}</p>
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

/** Who tries Bowline without a key wants to know what this is, and how to get on. */
function Practice(): VNode {
  const { controller } = useTools();
  const question = "What can you do?";
  return html`<div class="practice">
    <button type="button" onClick=${() => controller.send(question, "send")}>${question}</button>
    <p class="faint">
      It is there to try things out. For a real one put its key into the environment or into${" "}
      <code>.env</code>, and start <code>bowline serve</code> again, or name another in${" "}
      <code>AGENTS.md</code>.
    </p>
  </div>`;
}
