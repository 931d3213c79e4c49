/** Decides which addresses of a model's text become links, and when they must be shown. */

/**
 * Returns the address as a browser reads it, for web and mail links. Other schemes stay text: a
 * `file:` address can name a server, and others start programs. A user name before the host can make
 * one host look like another, so such addresses stay text, too.
 */
export function linkTarget(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  if (url.protocol === "mailto:") return url.href;
  const isWeb = (url.protocol === "https:" || url.protocol === "http:") && url.hostname !== "";
  return isWeb && url.username === "" && url.password === "" ? url.href : undefined;
}

/** Returns true if the text says the same as the address, so that showing both adds nothing. */
export function isSameAddress(text: string, href: string): boolean {
  const bare = (address: string): string =>
    address.replace(/^(?:https?:\/\/|mailto:)/, "").replace(/\/$/, "");
  return bare(text) === bare(href);
}

/** Returns true if a text that names a host leads to another one. */
export function looksLikeAnother(text: string, href: string): boolean {
  const named = text.match(/(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}/gu) ?? [];
  if (named.length === 0) return false;
  const { protocol, hostname, pathname } = new URL(href);
  const real = protocol === "mailto:" ? (pathname.split("@").at(-1) ?? "") : hostname;
  return named.some((host) => withoutWww(host.toLowerCase()) !== withoutWww(real));
}

function withoutWww(host: string): string {
  return host.replace(/^www\./, "");
}
