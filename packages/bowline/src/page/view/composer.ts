/** Where messages are written. While a run goes on a message steers it or waits for its turn, as is chosen. */
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "htm/preact";
import type { SendMode } from "../state/outgoing.ts";
import { useTools } from "./context.ts";
import { icon } from "./icon.ts";

export interface ComposerProps {
  readonly sessionKey: string;
  readonly isRunning: boolean;
  readonly maxLength: number;
}

const modes: readonly { readonly mode: SendMode; readonly label: string; readonly hint: string }[] = [
  { mode: "steer", label: "Steer", hint: "It hears it before its next step" },
  { mode: "send", label: "Queue", hint: "It is asked when this is done" },
];

export function Composer({ sessionKey, isRunning, maxLength }: ComposerProps): VNode {
  const { controller, machine } = useTools();
  const { text, setText, field } = useDraft(sessionKey);
  const [chosen, choose] = useState<SendMode>(() => (machine.get("mode") === "send" ? "send" : "steer"));
  useEffect(() => {
    // On a phone the keyboard would cover half of what there is to read.
    if (matchMedia("(hover: hover)").matches && document.activeElement === document.body) field.current?.focus();
  }, [sessionKey, field]);
  const isTooLong = text.length > maxLength;
  const send = (): void => {
    if (text.trim() === "" || isTooLong) return;
    controller.send(text.trim(), isRunning ? chosen : "send");
    setText("");
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // An Enter that ends the composing of a word is not meant for the message; 229 is how Safari says so.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    send();
  };
  return html`<form
    class="composer"
    onSubmit=${(event: Event) => {
      event.preventDefault();
      send();
    }}
  >
    <label class="offscreen" for="message">Message</label>
    <textarea
      id="message"
      ref=${field}
      rows="1"
      enterkeyhint="send"
      placeholder=${isRunning ? "Say something while it works" : "Ask something"}
      aria-describedby="message-help"
      value=${text}
      onInput=${(event: Event) => setText((event.currentTarget as HTMLTextAreaElement).value)}
      onKeyDown=${onKeyDown}
    ></textarea>
    <div class="composer-row">
      ${
        isRunning
          ? html`<fieldset class="modes">
              <legend class="offscreen">While it works, a message</legend>
              ${modes.map(
                ({ mode, label, hint }) =>
                  html`<label title=${hint}>
                    <input
                      type="radio"
                      name="mode"
                      checked=${chosen === mode}
                      onChange=${() => {
                        choose(mode);
                        machine.set("mode", mode);
                      }}
                    /><span>${label}<span class="offscreen">: ${hint}</span></span>
                  </label>`,
              )}
            </fieldset>`
          : html`<p class="hint" aria-hidden="true">
              <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> breaks the line
            </p>`
      }
      <p id="message-help" class="offscreen">Enter sends, Shift and Enter break the line.</p>
      <div class="composer-buttons">
        ${isTooLong && html`<p class="too-long" role="alert">${text.length - maxLength} characters too many</p>`}
        ${
          isRunning &&
          html`<button type="button" class="round stop" aria-keyshortcuts="Escape" onClick=${() => controller.stop()}>
            ${icon("stop")}<span class="offscreen">Stop</span>
          </button>`
        }
        <button type="submit" class="round send" disabled=${text.trim() === "" || isTooLong}>
          ${icon("send")}<span class="offscreen">Send</span>
        </button>
      </div>
    </div>
  </form>`;
}

/** What is being written, kept by session until it is sent, also over a reload. */
function useDraft(sessionKey: string): {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly field: { current: HTMLTextAreaElement | null };
} {
  const { tab } = useTools();
  const name = `draft.${sessionKey}`;
  const [text, write] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => write(tab.get(name) ?? ""), [tab, name]);
  useLayoutEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text]);
  const setText = (next: string): void => {
    write(next);
    tab.set(name, next === "" ? undefined : next);
  };
  return { text, setText, field };
}
