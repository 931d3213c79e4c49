/**
 * Copies text to the clipboard. Falls back to copying a selection on pages over plain HTTP, where
 * browsers offer no clipboard API.
 */
export async function copyText(text: string, document: Document): Promise<boolean> {
  const { clipboard } = (document.defaultView?.navigator ?? {}) as { clipboard?: Clipboard };
  if (clipboard !== undefined) {
    const isDone = await clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    if (isDone) return true;
  }
  const field = document.createElement("textarea");
  const focused = document.activeElement as HTMLElement | null;
  field.value = text;
  field.className = "offscreen";
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  focused?.focus();
  return isCopied;
}
