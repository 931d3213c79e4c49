/** Shows a run's cost and models; by turn when unfolded. */
import type { ComponentClass, VNode } from "preact";
import { html } from "htm/preact";
import type { TurnView } from "../state/run-view.ts";
import { sumUsage, usageText } from "../text/wording.ts";
import { memo } from "./memo.ts";

interface FooterProps {
  readonly turns: readonly TurnView[];
}

export const RunFooter: ComponentClass<FooterProps> = memo(
  ({ turns }: FooterProps): VNode | undefined => {
    if (turns.length === 0) return undefined;
    const models = [...new Set(turns.map(({ model }) => model))].join(", ");
    const total = joined(models, usageText(sumUsage(turns.map(({ usage }) => usage))));
    if (turns.length === 1) return html`<p class="usage">${total}</p>`;
    return html`<details class="usage">
      <summary>${turns.length} turns · ${total}</summary>
      <ol>
        ${turns.map(
          ({ turn, provider, model, usage }) =>
            html`<li key=${turn}>${joined(`${provider}/${model}`, usageText(usage))}</li>`,
        )}
      </ol>
    </details>`;
  },
);

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(" · ");
}
