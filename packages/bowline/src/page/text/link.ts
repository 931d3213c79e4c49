/** Which links of a model's text may be followed. */

/**
 * The address, as the browser will read it, if it leads to the web or to a mailbox; undefined for
 * all else: scripts, data, other schemes, and addresses that are relative, which would lead to this
 * server.
 */
export function safeLink(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  const isWeb = (url.protocol === "https:" || url.protocol === "http:") && url.hostname !== "";
  // A name before the host is there to make one host look like another.
  if (isWeb && url.username === "" && url.password === "") return url.href;
  return url.protocol === "mailto:" ? url.href : undefined;
}
