/** The choice of what a message does that is written while a run goes on. */
import type { VNode } from "preact";
import { html } from "htm/preact";
import type { SendMode } from "../state/outgoing.ts";

interface SendModesProps {
  readonly chosen: SendMode;
  readonly onChoose: (mode: SendMode) => void;
}

const modes: readonly { readonly mode: SendMode; readonly label: string; readonly hint: string }[] =
  [
    { mode: "steer", label: "Steer", hint: "It hears it before its next step" },
    { mode: "send", label: "Queue", hint: "It is asked when this is done" },
  ];

export function SendModes({ chosen, onChoose }: SendModesProps): VNode {
  return html`<fieldset class="modes">
    <legend class="offscreen">While it works, a message</legend>
    ${modes.map(
      ({ mode, label, hint }) =>
        html`<label title=${hint}>
          <input
            type="radio"
            name="mode"
            checked=${chosen === mode}
            onChange=${() => onChoose(mode)}
          /><span>${label}<span class="offscreen">: ${hint}</span></span>
        </label>`,
    )}
  </fieldset>`;
}
