/**
 * The form for writing messages. While a run is active, a message steers it or is queued, as the
 * user chooses.
 */
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { html } from "htm/preact";
import { imageTypes } from "../text/image-type.ts";
import { ChosenImages } from "./chosen-images.ts";
import { useTools } from "./context.ts";
import { icon } from "./icon.ts";
import { MessageField } from "./message-field.ts";
import { SendModes } from "./send-modes.ts";
import type { Draft } from "./use-draft.ts";
import { useFileDrop } from "./use-file-drop.ts";
import { useMessage, type MessageOptions } from "./use-message.ts";

export function Composer(props: MessageOptions): VNode {
  const { sessionKey, isRunning, maxLength } = props;
  const { controller } = useTools();
  const { draft, imageDraft, mode, chooseMode, isTooLong, cannotSend, send, focus } =
    useMessage(props);
  const { text, setText, field } = draft;
  const { images, problem } = imageDraft;
  const picker = useRef<HTMLInputElement>(null);
  const isDropping = useFileDrop(imageDraft.add);
  useFocusOnShow(field, sessionKey);
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
        imageDraft.remove(id);
        focus();
      }}
    />
    <${MessageField}
      field=${field}
      text=${text}
      placeholder=${placeholderOf(isDropping, images.length, isRunning)}
      onText=${setText}
      onSend=${send}
      onFiles=${imageDraft.add}
    />
    <div role="alert">
      ${problem !== undefined && html`<p class="image-problem">${problem}</p>`}
    </div>
    <div class="composer-row">
      <button type="button" class="quiet icon-only" onClick=${() => picker.current?.click()}>
        ${icon("image")}<span class="offscreen">Add images</span>
      </button>
      ${isRunning ? html`<${SendModes} chosen=${mode} onChoose=${chooseMode} />` : keyHint()}
      <p id="message-help" class="offscreen">Enter sends, Shift and Enter break the line.</p>
      <div class="composer-buttons">
        <${ImagePicker}
          picker=${picker}
          onFiles=${(files: readonly File[]) => {
            imageDraft.add(files);
            focus();
          }}
        />
        ${isTooLong && html`<p class="too-long" role="alert">${text.length - maxLength} characters too many</p>`}
        ${isRunning && stopButton(() => controller.stop())}
        <button type="submit" class="round send" disabled=${cannotSend}>
          ${icon("send")}<span class="offscreen">Send</span>
        </button>
      </div>
    </div>
  </form>`;
}

/** Focuses the field when a session is shown, if nothing else has the focus. */
function useFocusOnShow(field: Draft["field"], sessionKey: string): void {
  useEffect(() => {
    // On a phone the keyboard would cover half of the page.
    if (matchMedia("(hover: hover)").matches && document.activeElement === document.body)
      field.current?.focus();
  }, [sessionKey, field]);
}

interface ImagePickerProps {
  readonly picker: { readonly current: HTMLInputElement | null };
  readonly onFiles: (files: readonly File[]) => void;
}

/** The browser's file dialog; another button opens it. */
function ImagePicker({ picker, onFiles }: ImagePickerProps): VNode {
  return html`<input
    type="file"
    ref=${picker}
    hidden
    multiple
    accept=${imageTypes.join(",")}
    aria-label="Image files"
    onChange=${({ currentTarget }: { currentTarget: HTMLInputElement }) => {
      const files = [...(currentTarget.files ?? [])];
      currentTarget.value = ""; // the same file may be chosen again
      onFiles(files);
    }}
  />`;
}

function keyHint(): VNode {
  return html`<p class="hint" aria-hidden="true">
    <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> breaks the line
  </p>`;
}

function stopButton(onClick: () => void): VNode {
  return html`<button
    type="button"
    class="round stop"
    aria-keyshortcuts="Escape"
    onClick=${onClick}
  >
    ${icon("stop")}<span class="offscreen">Stop</span>
  </button>`;
}

function placeholderOf(isDropping: boolean, images: number, isRunning: boolean): string {
  if (isDropping) return "Drop images here";
  if (images > 0) return images === 1 ? "Say something about it" : "Say something about them";
  return isRunning ? "Say something while it works" : "Ask something";
}
