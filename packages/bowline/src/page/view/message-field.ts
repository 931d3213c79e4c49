/** The text field of the message. Enter sends; pasted files are attached. */
import type { VNode } from "preact";
import { html } from "htm/preact";

interface MessageFieldProps {
  readonly field: { readonly current: HTMLTextAreaElement | null };
  readonly text: string;
  readonly placeholder: string;
  readonly onText: (text: string) => void;
  readonly onSend: () => void;
  readonly onFiles: (files: readonly File[]) => void;
}

export function MessageField(props: MessageFieldProps): VNode {
  const { field, text, placeholder, onText, onSend, onFiles } = props;
  const onPaste = (event: ClipboardEvent): void => {
    const { clipboardData: copied } = event;
    // Office programs copy text along with a picture of it.
    if (copied === null || copied.files.length === 0 || copied.types.includes("text/plain")) return;
    event.preventDefault();
    onFiles([...copied.files]);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // Ignore an Enter that ends the composition of a word; Safari reports it as 229.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229)
      return;
    event.preventDefault();
    onSend();
  };
  return html`<label class="offscreen" for="message">Message</label>
    <textarea
      id="message"
      ref=${field}
      rows="1"
      enterkeyhint="send"
      placeholder=${placeholder}
      aria-describedby="message-help"
      value=${text}
      onInput=${(event: Event) => onText((event.currentTarget as HTMLTextAreaElement).value)}
      onKeyDown=${onKeyDown}
      onPaste=${onPaste}
    ></textarea>`;
}
