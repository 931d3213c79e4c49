/** Cuts a text to `length` characters with a note of how many are missing. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  // A lone half of a surrogate pair is not text.
  const kept = text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
  return `${kept}… [cut: ${text.length - kept.length} more characters]`;
}
