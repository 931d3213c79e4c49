/** The colour theme: light, dark, or the system's. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { html } from "htm/preact";
import type { Keep } from "../storage.ts";
import { useTools } from "./context.ts";

type Theme = "system" | "light" | "dark";

const themes: readonly { readonly theme: Theme; readonly label: string }[] = [
  { theme: "system", label: "Auto" },
  { theme: "light", label: "Light" },
  { theme: "dark", label: "Dark" },
];

export function ThemeSwitch(): VNode {
  const { machine } = useTools();
  const [chosen, choose] = useState<Theme>(() => readTheme(machine));
  const pick = (theme: Theme): void => {
    choose(theme);
    machine.set("theme", theme === "system" ? undefined : theme);
    applyTheme(theme);
  };
  return html`<fieldset class="modes themes">
    <legend class="offscreen">Colours</legend>
    ${themes.map(
      ({ theme, label }) =>
        html`<label>
          <input
            type="radio"
            name="theme"
            checked=${chosen === theme}
            onChange=${() => pick(theme)}
          /><span>${label}</span>
        </label>`,
    )}
  </fieldset>`;
}

export function readTheme(machine: Keep): Theme {
  const kept = machine.get("theme");
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
