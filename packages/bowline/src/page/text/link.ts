/** Decides which links in a model's text can be followed. */

/**
 * Returns the address as the browser will read it, if it is a web or mail link. Returns undefined
 * for scripts, data, other schemes, and relative addresses, which would lead to this server.
 */
export function safeLink(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  const isWeb = (url.protocol === "https:" || url.protocol === "http:") && url.hostname !== "";
  // A user name before the host can make one host look like another.
  if (isWeb && url.username === "" && url.password === "") return url.href;
  return url.protocol === "mailto:" ? url.href : undefined;
}
