/** Returns whether the text is blank. NUL counts as blank, since it is not sent. */
// Q131
export function isBlank(text: string): boolean {
  return !/[^\s\0]/.test(text);
}
