/**
 * Where messages are written. While a run goes on a message steers it or waits for its turn, as is
 * chosen.
 */
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "htm/preact";
import type { ImageLimits } from "../choose-images.ts";
import type { Outgoing, SendMode } from "../state/outgoing.ts";
import { imageTypes } from "../text/image-type.ts";
import { ChosenImages } from "./chosen-images.ts";
import { useTools } from "./context.ts";
import { icon } from "./icon.ts";
import { useDraft } from "./use-draft.ts";
import { useFileDrop } from "./use-file-drop.ts";
import { useImages } from "./use-images.ts";

export interface ComposerProps {
  readonly sessionKey: string;
  readonly isRunning: boolean;
  readonly maxLength: number;
  readonly imageLimits: ImageLimits;
  /**
   * A message with images that was not taken: it comes back here, if nothing else is being written.
   */
  readonly refused: Outgoing | undefined;
}

const modes: readonly { readonly mode: SendMode; readonly label: string; readonly hint: string }[] =
  [
    { mode: "steer", label: "Steer", hint: "It hears it before its next step" },
    { mode: "send", label: "Queue", hint: "It is asked when this is done" },
  ];

export function Composer({
  sessionKey,
  isRunning,
  maxLength,
  imageLimits,
  refused,
}: ComposerProps): VNode {
  const { controller, machine } = useTools();
  const { text, setText, isEmpty, field } = useDraft(sessionKey);
  const draft = useImages(sessionKey, imageLimits);
  const { images, isReading, problem } = draft;
  const picker = useRef<HTMLInputElement>(null);
  const isDropping = useFileDrop(draft.add);
  const [chosen, choose] = useState<SendMode>(() =>
    machine.get("mode") === "send" ? "send" : "steer",
  );
  useEffect(() => {
    // On a phone the keyboard would cover half of what there is to read.
    if (matchMedia("(hover: hover)").matches && document.activeElement === document.body)
      field.current?.focus();
  }, [sessionKey, field]);
  useEffect(() => {
    if (refused?.images === undefined || !isEmpty() || images.length > 0) return;
    setText(refused.text);
    draft.putBack(refused.images, `Not sent: ${refused.problem}`);
    controller.dismiss(refused);
  }, [refused?.id, sessionKey]);
  const isTooLong = text.length > maxLength;
  const cannotSend = text.trim() === "" || isTooLong || isReading;
  const send = (): void => {
    if (cannotSend) return;
    const ready = images.map((image) => image.ready);
    controller.send(text.trim(), isRunning ? chosen : "send", ready);
    setText("");
    draft.clear();
    draft.forgetProblem();
    field.current?.focus();
  };
  const onPaste = (event: ClipboardEvent): void => {
    const { clipboardData: copied } = event;
    // What an office program copies is text, with a picture of it.
    if (copied === null || copied.files.length === 0 || copied.types.includes("text/plain")) return;
    event.preventDefault();
    draft.add([...copied.files]);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // An Enter that ends the composing of a word is not meant for the message; 229 is how Safari
    // says so.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229)
      return;
    event.preventDefault();
    send();
  };
  return html`<form
    class=${isDropping ? "composer is-dropping" : "composer"}
    onSubmit=${(event: Event) => {
      event.preventDefault();
      send();
    }}
  >
    <${ChosenImages}
      images=${images}
      onRemove=${(id: string) => {
        draft.remove(id);
        field.current?.focus();
      }}
    />
    <label class="offscreen" for="message">Message</label>
    <textarea
      id="message"
      ref=${field}
      rows="1"
      enterkeyhint="send"
      placeholder=${placeholderOf(isDropping, images.length, isRunning)}
      aria-describedby="message-help"
      value=${text}
      onInput=${(event: Event) => setText((event.currentTarget as HTMLTextAreaElement).value)}
      onKeyDown=${onKeyDown}
      onPaste=${onPaste}
    ></textarea>
    <div role="alert">
      ${problem !== undefined && html`<p class="image-problem">${problem}</p>`}
    </div>
    <div class="composer-row">
      <button type="button" class="quiet icon-only" onClick=${() => picker.current?.click()}>
        ${icon("image")}<span class="offscreen">Add images</span>
      </button>
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
        <input
          type="file"
          ref=${picker}
          hidden
          multiple
          accept=${imageTypes.join(",")}
          aria-label="Image files"
          onChange=${({ currentTarget }: { currentTarget: HTMLInputElement }) => {
            draft.add([...(currentTarget.files ?? [])]);
            currentTarget.value = ""; // the same file may be chosen again
            field.current?.focus();
          }}
        />
        ${isTooLong && html`<p class="too-long" role="alert">${text.length - maxLength} characters too many</p>`}
        ${
          isRunning &&
          html`<button
            type="button"
            class="round stop"
            aria-keyshortcuts="Escape"
            onClick=${() => controller.stop()}
          >
            ${icon("stop")}<span class="offscreen">Stop</span>
          </button>`
        }
        <button type="submit" class="round send" disabled=${cannotSend}>
          ${icon("send")}<span class="offscreen">Send</span>
        </button>
      </div>
    </div>
  </form>`;
}

function placeholderOf(isDropping: boolean, images: number, isRunning: boolean): string {
  if (isDropping) return "Drop images here";
  if (images > 0) return images === 1 ? "Say something about it" : "Say something about them";
  return isRunning ? "Say something while it works" : "Ask something";
}
