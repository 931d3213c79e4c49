/** Lets the user choose what a message does while a run is active. */
import type { VNode } from "preact";
import { html } from "htm/preact";
import type { SendMode } from "../state/outgoing.ts";

interface SendModesProps {
  readonly chosen: SendMode;
  readonly onChoose: (mode: SendMode) => void;
}

const modes: readonly { readonly mode: SendMode; readonly label: string; readonly hint: string }[] =
  [
    { mode: "steer", label: "Steer", hint: "Added before the next step" },
    { mode: "send", label: "Queue", hint: "Sent when this run is done" },
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
