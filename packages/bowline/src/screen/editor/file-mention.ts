/**
 * Returns the mention of a file in a message: `@src/a.ts` or `@"a file.md"`. A path that ends as a
 * sentence may is quoted.
 */
export function mentionOf(path: string): string {
  const isPlain = !/[\s"'`\\]|[.,;:!?)\]}]$/.test(path);
  return isPlain ? `@${path}` : `@"${path.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
